import { answerTime } from '../answer-time.js';
import { FIRST_QUESTIONS, type FirstQuestion } from '../first-questions.js';
import { Remote } from '../remote.js';
import { type Row, type Sides, timed } from '../row.js';
import { spawnEmulator } from '../server-process.js';
import { APP, type Stage } from '../stage.js';
import { median } from '../statistics.js';

const REPO = 'first';
/** Git is asked so often in a round, if it answers within so many milliseconds. */
const NATIVE = { times: 3, quick: 1000 };

/**
 * The first question after a push. Every round has a process and a repository of its own: the process has served
 * another repository before, or nothing at all.
 */
export const FIRST_ROWS: readonly Row<Stage>[] = FIRST_QUESTIONS.flatMap((question) => [
  firstRow(question, `first-${question.id}`, `first ${question.title}`, true),
  firstRow(question, `first-${question.id}-new-process`, `first ${question.title}, new process`, false),
]);

function firstRow(question: FirstQuestion, id: string, title: string, isWarm: boolean): Row<Stage> {
  const { peer, bar } = question;
  return { id, title, peer, unit: 'ms', bar, open: (stage) => openFirst(question, stage, isWarm) };
}

async function openFirst(question: FirstQuestion, stage: Stage, isWarm: boolean): Promise<Sides> {
  const of = await question.prepare(stage.fixture);
  const { ask, askNative } = await of(0);
  const practise = isWarm ? await stage.practice() : undefined;
  const native = () => timed(() => askNative(stage.native, APP));
  return {
    ours: async () => {
      await using server = await spawnEmulator();
      const remote = new Remote(server.origin);
      await practise?.(remote);
      await remote.seed(REPO, stage.fixture);
      const time = await answerTime(() => ask(remote, REPO));
      remote.client.close();
      return time;
    },
    native: async () => {
      const times = [await native()];
      if (times[0]! < NATIVE.quick) while (times.length < NATIVE.times) times.push(await native());
      return median(times);
    },
  };
}
