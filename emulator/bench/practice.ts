import { answerTime } from './answer-time.js';
import { FIRST_QUESTIONS } from './first-questions.js';
import { generatedFixture } from './fixture.js';
import type { Remote } from './remote.js';

/** Commits of a repository that a process has served before, and how many such repositories. */
const COMMITS = 1000;
const REPOSITORIES = 5;

/** Has a process serve other, small repositories, as it does tests: each is pushed and asked every first question once. */
export type Practice = (remote: Remote) => Promise<void>;

export async function preparePractice(histories: string): Promise<Practice> {
  const fixture = await generatedFixture(histories, COMMITS);
  const questions = await Promise.all(FIRST_QUESTIONS.map(({ prepare }) => prepare(fixture)));
  const rounds = Array.from({ length: REPOSITORIES }, (_, round) => round);
  const prepared = await Promise.all(rounds.map((round) => Promise.all(questions.map((of) => of(round)))));
  return async (remote) => {
    for (const [round, asked] of prepared.entries()) {
      const repo = `practice-${round}`;
      await remote.seed(repo, fixture);
      for (const { ask } of asked) await answerTime(() => ask(remote, repo));
    }
  };
}
