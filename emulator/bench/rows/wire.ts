import { type AskFetch, allRefs, depthOne, hundredCommits, oneBranch, oneCommit, TIPS } from '../fetch-questions.js';
import { fetchRequest, lsRefsRequest } from '../fetch-requests.js';
import type { Fixture } from '../fixture.js';
import type { AnswerOptions } from '../http-client.js';
import type { Remote } from '../remote.js';
import { type Row, timed } from '../row.js';
import { APP, type Stage } from '../stage.js';

/** Makes the options of a request; other ones each round, so that an answer kept from the last one is no use. */
type Ask = (fixture: Fixture, round: number) => AnswerOptions | Promise<AnswerOptions>;

/** Requests a git client makes, made by hand: the servers alone, without what a client adds to both. */
export const WIRE_ROWS: readonly Row<Stage>[] = [
  timeRow('info-refs', 'info/refs', 0.15, 'info/refs?service=git-upload-pack', () => ({})),
  timeRow('ls-refs', 'ls-refs', 0.15, 'git-upload-pack', () => ({ body: lsRefsRequest() })),
  { ...fetchRow('clone-all', 'full clone, all refs', 0.1, allRefs), barOf: { 'git/git': 0.25 } },
  fetchRow('clone-branch', 'one-branch clone, later (another tip each time)', 0.2, oneBranch),
  fetchRow('clone-depth-1', 'clone of depth 1', 0.1, depthOne),
  fetchRow('fetch-1', 'fetch of 1 commit', 0.15, oneCommit),
  fetchRow('fetch-100', 'fetch of 100 commits', 0.15, hundredCommits),
  bytesRow('bytes-clone-depth-1', 'clone of depth 1: bytes', depthOne),
  bytesRow('bytes-fetch-1', 'fetch of 1 commit: bytes', oneCommit),
  bytesRow('bytes-fetch-100', 'fetch of 100 commits: bytes', hundredCommits),
];

function timeRow(id: string, title: string, bar: number, service: string, ask: Ask): Row<Stage> {
  return wireRow({ id, title, bar, unit: 'ms' }, async (remote, fixture, round) => {
    const options = await ask(fixture, round);
    await remote.token(APP);
    return timed(() => remote.git(APP, service, options));
  });
}

function fetchRow(id: string, title: string, bar: number, ask: AskFetch): Row<Stage> {
  return timeRow(id, title, bar, 'git-upload-pack', async (fixture, round) => ({
    body: fetchRequest(await ask(fixture, round)),
  }));
}

function bytesRow(id: string, title: string, ask: AskFetch): Row<Stage> {
  return wireRow({ id, title, bar: 1.5, unit: 'KB' }, async (remote, fixture, round) => {
    const { length } = await remote.git(APP, 'git-upload-pack', { body: fetchRequest(await ask(fixture, round)) });
    return length / 1024;
  });
}

function wireRow(
  head: Pick<Row<Stage>, 'id' | 'title' | 'bar' | 'unit'>,
  measure: (remote: Remote, fixture: Fixture, round: number) => Promise<number>,
): Row<Stage> {
  return {
    ...head,
    peer: 'git http-backend',
    mostRounds: TIPS - 1,
    async open({ ours, native, fixture }) {
      // What is asked first has a row of its own.
      await measure(ours, fixture, TIPS - 1);
      return {
        ours: (round) => measure(ours, fixture, round),
        native: (round) => measure(native, fixture, round),
      };
    },
  };
}
