import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServerProcess, spawnEmulator } from '../server-process.js';
import type { Vitals } from './vitals.js';

const HEAP = 512;
/** Small too: what a cache keeps is no leak, but hides one. */
const CACHE = '4MiB';

/** An emulator whose heap is small, so that what leaks shows soon, and which tells how it is. */
export function spawnWatched(): Promise<ServerProcess> {
  return spawnUsual(['--cache-bytes', CACHE], [`--max-old-space-size=${HEAP}`]);
}

/** An emulator as its users start it, which tells how it is. */
export function spawnUsual(flags: readonly string[] = [], nodeFlags: readonly string[] = []): Promise<ServerProcess> {
  const vitals = new URL('./vitals.js', import.meta.url).href;
  return spawnEmulator(flags, ['--expose-gc', ...nodeFlags, '--import', vitals]);
}

export async function askVitals({ child }: ServerProcess): Promise<Vitals> {
  const answer = once(child, 'message');
  child.send('vitals');
  const [vitals] = (await answer) as [Vitals];
  return vitals;
}

/** The longest that the event loop stood still since the last question, in milliseconds. */
export async function askDelay({ child }: ServerProcess): Promise<number> {
  const answer = once(child, 'message');
  child.send('delay');
  const [delay] = (await answer) as [number];
  return delay;
}

/** Vitals once the collector has come by a few times: deleted objects go when their last reader has. */
export async function askSettled(server: ServerProcess): Promise<Vitals> {
  for (let turn = 0; turn < 4; turn++) {
    await askVitals(server);
    await sleep(100);
  }
  return askVitals(server);
}
