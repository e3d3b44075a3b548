import type { FetchQuestion } from './fetch-requests.js';
import { ancestorBehind, type Fixture } from './fixture.js';

/** Tips to ask about: the branch as it was so many first parents ago. More than a row has rounds. */
export const TIPS = 400;

/** Asks for a part of the fixture; for another one each round. */
export type AskFetch = (fixture: Fixture, round: number) => FetchQuestion | Promise<FetchQuestion>;

export const allRefs: AskFetch = ({ refs }) => ({ wants: refs.map(({ oid }) => oid) });
export const oneBranch: AskFetch = (fixture, round) => ({ wants: [at(fixture, round)] });
export const withoutBlobs: AskFetch = (fixture, round) => ({ wants: [at(fixture, round)], filter: 'blob:none' });
export const depthOne: AskFetch = (fixture, round) => ({ wants: [at(fixture, round)], depth: 1 });
export const oneCommit: AskFetch = (fixture, round) => ({
  wants: [at(fixture, round)],
  haves: [at(fixture, round + 1)],
});
export const hundredCommits: AskFetch = async (fixture, round) => ({
  wants: [at(fixture, round)],
  haves: [await ancestorBehind(fixture, round % TIPS, 100)],
});

function at({ line }: Fixture, round: number): string {
  return line[Math.min(round % TIPS, line.length - 1)]!;
}
