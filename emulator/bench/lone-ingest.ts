import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fixture } from './fixture.js';
import { prepareFirstQuestions } from './questions.js';
import { type Server, spawnEmulator } from './remote.js';
import type { Vitals } from './soak/vitals.js';

/** Maximum time in milliseconds for which the emulator's event loop may be blocked. */
export const MAX_STALL = 30;

/**
 * Time in milliseconds after the response to a push for which the event loop delay is still observed. In this time, the
 * emulator indexes the pushed objects.
 */
const AFTER = 5000;
const REPO = 'lone';

/** Starts an emulator that reports its memory and its event loop delay on request. */
export function spawnWatched(flags: readonly string[] = [], nodeFlags: readonly string[] = []): Promise<Server> {
  const vitals = new URL('./soak/vitals.js', import.meta.url).href;
  return spawnEmulator(flags, ['--expose-gc', ...nodeFlags, '--import', vitals]);
}

/**
 * Returns the memory and event loop delay that the server reports. If `collects` is true, the server collects garbage
 * before it measures its memory.
 */
export async function askVitals({ child }: Server, collects = true): Promise<Vitals> {
  const response = once(child, 'message');
  child.send(collects);
  return (await response)[0];
}

/**
 * Returns the memory and event loop delay that the server reports after several garbage collections. One is not enough,
 * because deleted objects are released only when their last reader has ended.
 */
export async function askSettled(server: Server): Promise<Vitals> {
  for (let turn = 0; turn < 4; turn++) {
    await askVitals(server);
    await sleep(100);
  }
  return askVitals(server);
}

export type LoneIngest = Awaited<ReturnType<typeof loneIngest>>;

/**
 * Pushes the fixture to a new emulator, then sends the first request of each kind. Returns the figures by benchmark id:
 *
 * - for each phase, the longest time in milliseconds that the event loop was blocked
 * - the memory in bytes after all responses and a garbage collection, minus that of the empty emulator; in total, and
 *   for JavaScript values and buffers only
 */
export async function loneIngest(fixture: Fixture) {
  const askFirst = await prepareFirstQuestions(fixture, 0);
  await using server = await spawnWatched();
  const askDelay = async () => (await askVitals(server, false)).delayMax;
  const empty = await askSettled(server);
  await sleep(200);
  await askDelay();
  await server.seed(REPO, fixture);
  const during = await askDelay();
  await sleep(AFTER);
  const after = await askDelay();
  await askFirst(server, REPO);
  const asked = await askDelay();
  const full = await askSettled(server);
  return {
    'stall-ingest': during,
    'stall-after-ingest': after,
    'stall-first-questions': asked,
    'memory-held': full.rss - empty.rss,
    'memory-held-values': full.held - empty.held,
  };
}
