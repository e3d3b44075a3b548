import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fixture } from './fixture.js';
import { prepareFirstQuestions } from './questions.js';
import { type Server, spawnEmulator } from './remote.js';
import type { Vitals } from './soak/vitals.js';

/** Maximum time that the event loop may be blocked, in milliseconds. */
export const MAX_STALL = 50;

/** Time in milliseconds after the report of a push during which indexing is observed. */
const AFTER = 5000;
const REPO = 'lone';

/** Starts an emulator that reports its memory and event loop delay. */
export function spawnWatched(flags: readonly string[] = [], nodeFlags: readonly string[] = []): Promise<Server> {
  const vitals = new URL('./soak/vitals.js', import.meta.url).href;
  return spawnEmulator(flags, ['--expose-gc', ...nodeFlags, '--import', vitals]);
}

/** Returns the vitals, by default after a garbage collection. */
export async function askVitals({ child }: Server, collects = true): Promise<Vitals> {
  const response = once(child, 'message');
  child.send(collects);
  return (await response)[0];
}

/**
 * Returns the vitals after several garbage collections, because deleted objects are released after their last reader.
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
 * Pushes to an empty server, then sends each first question once. Returns figures by the id of their row: the longest
 * time in milliseconds that the event loop was blocked in each phase, and the bytes above those of the empty server
 * after all responses and a garbage collection, in total and of values and buffers.
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
