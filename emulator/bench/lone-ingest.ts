import { setTimeout as sleep } from 'node:timers/promises';
import { FIRST_QUESTIONS } from './first-questions.js';
import type { Fixture } from './fixture.js';
import { Remote } from './remote.js';
import { askDelay, askSettled, spawnUsual } from './soak/server.js';

/** Milliseconds that the event loop may stand still. */
export const MOST_STALL = 50;

/** What is built after the report of a push is watched for so many milliseconds. */
const AFTER = 5000;
const REPO = 'lone';

/** A push to an empty server, and every first question about what it brought, each once. */
export interface LoneIngest {
  /** The longest that the event loop stood still, in milliseconds. */
  readonly stalls: Readonly<Record<StallPhase, number>>;
  /** Bytes above what the empty server held, when all was answered and the collector had come by. */
  readonly resident: number;
  /** Of them, values and the buffers beside them. */
  readonly values: number;
}

export type StallPhase = 'in a lone ingest' | 'after a lone ingest' | 'in the first questions';

export async function loneIngest(fixture: Fixture): Promise<LoneIngest> {
  const questions = await Promise.all(FIRST_QUESTIONS.map(async ({ prepare }) => (await prepare(fixture))(0)));
  await using server = await spawnUsual();
  const remote = new Remote(server.origin);
  const empty = await askSettled(server);
  await sleep(200);
  await askDelay(server);
  await remote.seed(REPO, fixture);
  const during = await askDelay(server);
  await sleep(AFTER);
  const after = await askDelay(server);
  for (const { ask } of questions) await ask(remote, REPO);
  const asked = await askDelay(server);
  const full = await askSettled(server);
  remote.client.close();
  return {
    stalls: { 'in a lone ingest': during, 'after a lone ingest': after, 'in the first questions': asked },
    resident: full.rss - empty.rss,
    values: full.held - empty.held,
  };
}
