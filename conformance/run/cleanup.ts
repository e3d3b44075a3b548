import { setTimeout as sleep } from 'node:timers/promises';
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

/** Number of consecutive refusals after which cleanup stops. */
const MAX_REFUSED = 8;

/** Number of concurrent deletions when no run is active. */
const COLLECT_WIDTH = 4;

/** Deletes the repositories that a run created. Never throws, because the result is not a verdict about the target. */
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
 * Deletes repositories named in a journal from a target, and removes their entries. Entries remain if their name lacks
 * the prefix, or if they belong to another target or organization or to an active run. Throws `ScratchFailure` if the
 * journal cannot be read or written.
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
 * Checks that a target is ready, and removes the repositories that a journal names, at the pace of a run. `rate`:
 * requests per second; default: 5, unlimited on an emulator. Throws `Unready`, and `ScratchFailure` if the journal
 * cannot be read or written.
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
  await checkReady(given, timeout);
  const target = await withAdmin(given, timeout);
  const limiter = createLimiter(rate ?? usualRate(target), Date.now, (milliseconds) => sleep(milliseconds));
  return collectScratch(target, file, { limiter, timeout, width: COLLECT_WIDTH });
}

/** Deletes repositories. Returns the names of deleted ones, and the last reason why others remain. */
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
 * Creates and deletes one repository, before a run creates others. Throws `Unready` if the target cannot delete it. If
 * the target does not create the repository, the run continues, because the rules report that. `name`: an unused name.
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
    /** Called before the repository is created. */
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
    // The rules report any other failure.
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
