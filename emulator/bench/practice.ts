import { answerTime } from './answer-time.js';
import { FIRST_QUESTIONS } from './first-questions.js';
import { generatedFixture } from './fixture.js';
import type { Remote } from './remote.js';

/** Commits of the repository that a process has served before, and how often it was asked each question about it. */
const COMMITS = 1000;
const ROUNDS = 5;
const REPO = 'practice';

/** Has a process serve another, small repository: a push, and all first questions. */
export type Practice = (remote: Remote) => Promise<void>;

export async function preparePractice(histories: string): Promise<Practice> {
  const fixture = await generatedFixture(histories, COMMITS);
  const questions = await Promise.all(FIRST_QUESTIONS.map(({ prepare }) => prepare(fixture)));
  const rounds = Array.from({ length: ROUNDS }, (_, round) => round);
  const prepared = await Promise.all(rounds.map((round) => Promise.all(questions.map((of) => of(round)))));
  return async (remote) => {
    await remote.seed(REPO, fixture);
    for (const { ask } of prepared.flat()) await answerTime(() => ask(remote, REPO));
  };
}
