import { setTimeout as sleep } from 'node:timers/promises';
import { Latency } from '../http/latency.js';
import { createLimiter } from '../http/limiter.js';
import type { Cleanup } from '../report/results.js';
import { defined } from '../target/json.js';
import type { Target } from '../target/target.js';
import { Deletion, type DeletionOptions } from './deletion.js';
import { checkReady, Unready, usualRate, withAdmin } from './preflight.js';
import {
  dropScratch,
  isInUse,
  isScratchName,
  readScratch,
  type Scratch,
  type ScratchEntry,
  ScratchFailure,
} from './scratch.js';

/**
 * Number of consecutive failed deletions after which cleanup stops. A target that refuses deletions therefore does not
 * get a request for every repository.
 */
const MAX_REFUSED = 8;

/** Number of concurrent deletions in `collectLeft`, which removes the repositories of earlier runs. */
const COLLECT_WIDTH = 4;

/**
 * Deletes the repositories that a run created. Never throws: an error is returned as `reason`, because a failed
 * deletion is not a verdict about the target.
 */
export async function cleanUp(target: Target, scratch: Scratch, options: DeletionOptions): Promise<Cleanup> {
  const names = scratch.left();
  if (names.length === 0) return { made: scratch.made, removed: scratch.made, left: [] };
  const { gone, reason } = await deleteRepositories(target, names, options);
  const failure = await scratch.remove(gone).then(
    () => undefined,
    (error: Error) => error.message,
  );
  const left = scratch.left();
  const why = failure ?? (left.length === 0 ? undefined : reason);
  return { made: scratch.made, removed: scratch.made - left.length, left, ...defined({ reason: why }) };
}

/**
 * Deletes the repositories that a journal lists for this target and organization, and removes their entries from the
 * journal. A journal is a file with the names of created repositories.
 *
 * Two kinds of entries are skipped: those of a run that is still active, and those whose name does not look like one of
 * the suite, so that no other repository is deleted. Throws `ScratchFailure` if the journal cannot be read or written.
 */
export async function collectScratch(target: Target, file: string, options: DeletionOptions): Promise<Cleanup> {
  const entries = await readScratch(file);
  const isOurs = ({ base_url, org }: ScratchEntry) => base_url === target.baseUrl && org === target.org;
  const ours = entries.filter((entry) => isOurs(entry) && !isInUse(entry));
  const names = [...new Set(ours.map(({ name }) => name))].filter(isScratchName);
  const { gone, reason } = await deleteRepositories(target, names, options);
  const set = new Set(gone);
  await dropScratch(file, (entry) => isOurs(entry) && set.has(entry.name));
  const left = [...new Set(ours.map(({ name }) => name))].filter((name) => !set.has(name));
  return { made: names.length, removed: gone.length, left, ...(left.length === 0 ? {} : defined({ reason })) };
}

/**
 * Removes the repositories that earlier runs created and did not delete. Throws `Unready` if the target does not
 * respond or rejects the key, and `ScratchFailure` if the journal cannot be read or written.
 *
 * - `file`: journal of those runs (file with the names of created repositories).
 * - `rate`: requests per second. Default: 5, unlimited on an emulator.
 *
 * ```js
 * const { removed, left } = await collectLeft(target, 'made.jsonl', { rate: undefined, timeout: 15_000 });
 * console.log(`${removed} removed, ${left.length} left`);
 * ```
 */
export async function collectLeft(
  given: Target,
  file: string,
  { rate, timeout }: { readonly rate: number | undefined; readonly timeout: number },
): Promise<Cleanup> {
  const latency = new Latency(await checkReady(given, { timeout }));
  const target = await withAdmin(given, { timeout });
  const limiter = createLimiter(rate ?? usualRate(target), Date.now, (milliseconds) => sleep(milliseconds));
  return collectScratch(target, file, { limiter, timeout, width: COLLECT_WIDTH, latency });
}

/**
 * Deletes repositories with `options.width` concurrent requests. Returns the names of the deleted repositories, and the
 * reason of the last failed deletion. The reason is undefined if none failed.
 */
async function deleteRepositories(target: Target, names: readonly string[], options: DeletionOptions) {
  const gone: string[] = [];
  const deletion = new Deletion(target, options);
  let reason: string | undefined;
  let refused = 0;
  const waiting = [...names];
  await Promise.all(
    Array.from({ length: options.width }, async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        if (refused >= MAX_REFUSED || deletion.isOver) return;
        const why = await deletion.remove(name).catch(messageOf);
        if (why === undefined) gone.push(name);
        else reason = why;
        refused = why === undefined ? 0 : refused + 1;
      }
    }),
  );
  await deletion.close();
  return { gone, reason };
}

/**
 * Creates one repository and deletes it again, before a run creates others. A run must not fill a target with
 * repositories that cannot be removed. Throws `Unready` if the target cannot delete the repository. If the target
 * cannot even create it, the run continues, because rules report failed creations. `name`: a repository name that is
 * unused on the target.
 */
export async function checkDeletion(
  target: Target,
  {
    name,
    note,
    scratch,
    ...options
  }: DeletionOptions & {
    readonly name: string;
    /** Called with the repository's name before the repository is created. */
    readonly note: (name: string) => Promise<void>;
    readonly scratch: Scratch;
  },
): Promise<void> {
  const deletion = new Deletion(target, options);
  try {
    const lack = await deletion.lackOf(name);
    if (lack !== undefined) throw cannotDelete(lack);
    await scratch.add(name);
    await note(name);
    const { status } = await deletion.create(name);
    if (status > 299) return;
    const reason = await deletion.remove(name);
    if (reason !== undefined) throw cannotDelete(`${reason}; ${name} is left behind`);
    if (!(await deletion.isGone(name))) throw cannotDelete(`${name} still exists after its deletion`);
    await scratch.remove([name]);
  } catch (error) {
    // Ignore other errors, such as a lost response, because the rules of the run report them.
    if (error instanceof Unready || error instanceof ScratchFailure) throw error;
  } finally {
    await deletion.close();
  }
}

function cannotDelete(reason: string): Unready {
  return new Unready(
    `the target cannot delete the repositories that --write creates: ${reason}; use --no-write to only read, or --keep to keep them`,
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
