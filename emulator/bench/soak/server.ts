import { once } from 'node:events';
import { type ServerProcess, spawnEmulator } from '../server-process.js';
import type { Vitals } from './vitals.js';

const HEAP = 512;
/** Small too: what a cache keeps is no leak, but hides one. */
const CACHE = '4MiB';

/** An emulator whose heap is small, so that what leaks shows soon, and which tells how it is. */
export function spawnWatched(): Promise<ServerProcess> {
  const vitals = new URL('./vitals.js', import.meta.url).href;
  return spawnEmulator(['--cache-bytes', CACHE], ['--expose-gc', `--max-old-space-size=${HEAP}`, '--import', vitals]);
}

export async function askVitals({ child }: ServerProcess): Promise<Vitals> {
  const answer = once(child, 'message');
  child.send('vitals');
  const [vitals] = (await answer) as [Vitals];
  return vitals;
}
