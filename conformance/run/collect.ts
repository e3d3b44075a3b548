import { setTimeout as sleep } from 'node:timers/promises';
import { createLimiter } from '../http/limiter.js';
import type { Cleanup } from '../report/results.js';
import type { Target } from '../target/target.js';
import { collectScratch } from './cleanup.js';
import { checkReady, usualRate, withAdmin } from './preflight.js';

/** Names that are removed side by side. */
const WIDTH = 4;

/**
 * Removes what a journal names on a target that is ready, as politely as a run. `rate`: requests a second; default: 5,
 * without limit on an emulator. Throws `Unready`, and `ScratchFailure` where the journal cannot be read or written.
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
  return collectScratch(target, file, { limiter, timeout, width: WIDTH });
}
