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

async function ask<T>({ child }: Server, question: 'vitals' | 'delay'): Promise<T> {
  const response = once(child, 'message');
  child.send(question);
  const [value] = (await response) as [T];
  return value;
}

export const askVitals = (server: Server): Promise<Vitals> => ask(server, 'vitals');

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

/** A push to an empty server, followed by each first question once. */
export interface LoneIngest {
  /** Longest time that the event loop was blocked, by phase, in milliseconds. */
  readonly stalls: Readonly<Record<StallPhase, number>>;
  /** Bytes above those of the empty server, after all responses and a garbage collection. */
  readonly resident: number;
  /** Part of `resident` used by values and buffers. */
  readonly values: number;
}

export type StallPhase = 'in a lone ingest' | 'after a lone ingest' | 'in the first questions';

export async function loneIngest(fixture: Fixture): Promise<LoneIngest> {
  const askFirst = await prepareFirstQuestions(fixture, 0);
  await using server = await spawnWatched();
  const askDelay = () => ask<number>(server, 'delay');
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
    stalls: { 'in a lone ingest': during, 'after a lone ingest': after, 'in the first questions': asked },
    resident: full.rss - empty.rss,
    values: full.held - empty.held,
  };
}
