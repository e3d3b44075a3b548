import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient } from './http-client.js';
import { timed } from './row.js';
import { spawnPeer } from './server-process.js';
import { median } from './statistics.js';

const TIMES = 50;
/** Milliseconds between requests: as far apart as those of the rows, so that both processes have to be woken. */
const PAUSE = 8;

/** Milliseconds that a request to a bare server takes which does nothing: what no row can be faster than. */
export async function emptyRoundTrip(): Promise<number> {
  await using bare = await spawnPeer('bare');
  const client = new HttpClient(bare.origin);
  const times: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    times.push(await timed(() => client.request('/')));
    await sleep(PAUSE);
  }
  client.close();
  return median(times);
}
