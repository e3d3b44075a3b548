import { setTimeout as sleep } from 'node:timers/promises';
import { createSigner } from '../auth/tokens.js';
import { Client } from '../http/client.js';
import type { Exchange } from '../http/exchange.js';
import type { Limiter } from '../http/limiter.js';
import type { Cleanup } from '../report/results.js';
import type { Target } from '../target/target.js';
import { dropScratch, isInUse, isScratchName, readScratch, type Scratch } from './scratch.js';

export interface CleanupOptions {
  readonly limiter: Limiter;
  /** Milliseconds for one answer. */
  readonly timeout: number;
  readonly width: number;
}

/** Milliseconds after which cleaning up ends: what is left then is listed. */
const LONGEST = 60_000;
/** How often the deletion of a repository that is busy is tried. */
const TRIES = 4;
const BETWEEN_TRIES = 250;
/** Refusals in a row after which nothing more is tried. */
const MOST_REFUSED = 8;

const NO_ROUTE = 'the target shows no route to delete repositories by; --companion tries the one that clients use';

/** Deletes what a run made. What becomes of it is no verdict about the target: nothing here throws. */
export async function cleanUp(target: Target, scratch: Scratch, options: CleanupOptions): Promise<Cleanup> {
  const names = scratch.left();
  if (names.length === 0) return { made: scratch.made, removed: scratch.made, left: [] };
  const { gone, reason } = await deleteRepositories(target, names, options);
  const failure = await scratch.remove(gone).then(
    () => undefined,
    (error: Error) => error.message,
  );
  const left = scratch.left();
  const why = failure ?? (left.length === 0 ? undefined : reason);
  return {
    made: scratch.made,
    removed: scratch.made - left.length,
    left,
    ...(why === undefined ? {} : { reason: why }),
  };
}

/**
 * Deletes what a journal names on a target, and takes it out of the journal. What does not carry the prefix, or belongs
 * to another target or organization, or to a run that still goes on, stays. Throws `ScratchFailure` where the journal cannot be read or written.
 */
export async function collectScratch(target: Target, file: string, options: CleanupOptions): Promise<Cleanup> {
  const entries = await readScratch(file);
  const ours = entries.filter(
    (entry) => entry.base_url === target.baseUrl && entry.org === target.org && !isInUse(entry),
  );
  const names = [...new Set(ours.map(({ name }) => name))].filter(isScratchName);
  const { gone, reason } = await deleteRepositories(target, names, options);
  const set = new Set(gone);
  const isGone = ({ name }: { name: string }) => set.has(name);
  await dropScratch(file, (entry) => ours.some((one) => isSame(one, entry)) && isGone(entry));
  const left = [...new Set(ours.map(({ name }) => name))].filter((name) => !set.has(name));
  return {
    made: names.length,
    removed: gone.length,
    left,
    ...(left.length === 0 || reason === undefined ? {} : { reason }),
  };
}

function isSame(one: { base_url: string; org: string }, other: { base_url: string; org: string }): boolean {
  return one.base_url === other.base_url && one.org === other.org;
}

interface Deleted {
  readonly gone: string[];
  /** Why the others are not: what was seen last. */
  readonly reason: string | undefined;
}

async function deleteRepositories(target: Target, names: readonly string[], options: CleanupOptions): Promise<Deleted> {
  const gone: string[] = [];
  if (!target.companion) return { gone, reason: NO_ROUTE };
  const signal = AbortSignal.timeout(LONGEST);
  const pause = (milliseconds: number) => sleep(milliseconds, undefined, { signal });
  const { limiter, timeout, width } = options;
  const client = new Client({
    limiter,
    timeout,
    connections: width,
    signal,
    sleep: pause,
    onExchange: () => undefined,
    baseUrl: target.baseUrl,
  });
  const signer = createSigner(target, Date.now);
  let reason: string | undefined;
  let refused = 0;
  const remove = async (name: string): Promise<void> => {
    for (let left = TRIES; left > 0; left--) {
      const token = signer.sign({ repo: name, scopes: ['repo:write'] });
      const answer = await client.send({
        rule: 'cleanup',
        method: 'DELETE',
        origin: target.baseUrl,
        path: `/api/repos/${encodeURIComponent(name)}`,
        headers: { authorization: `Bearer ${token}` },
      });
      if (isGone(answer)) {
        refused = 0;
        gone.push(name);
        return;
      }
      reason = `DELETE /api/repos/… is answered ${answer.status}`;
      if (answer.status !== 409 && answer.status !== 503) break;
      await pause(BETWEEN_TRIES);
    }
    refused += 1;
  };
  const waiting = [...names];
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        if (refused >= MOST_REFUSED) return;
        try {
          await remove(name);
        } catch (error) {
          reason = error instanceof Error ? error.message : String(error);
          refused += 1;
          if (signal.aborted) return;
        }
      }
    }),
  );
  await client.close();
  return { gone, reason };
}

/** Deleted, or deleted before, or never made. A route that is not there is a 404 as well. */
function isGone({ status, body }: Exchange): boolean {
  if (status > 199 && status < 300) return true;
  if (status === 404) return body.includes('repository_not_found');
  return status === 410 || (status === 409 && body.includes('repository_deleted'));
}
