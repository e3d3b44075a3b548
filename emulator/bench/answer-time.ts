import type { Answer } from './answer-reader.js';
import { timed } from './row.js';

/** Milliseconds until an answer was there; undefined when there is no such route. */
export async function answerTime(ask: () => Promise<Answer>): Promise<number | undefined> {
  let answer: Answer | undefined;
  const time = await timed(async () => {
    answer = await ask();
  });
  const { status } = answer!;
  if (status === 404) return undefined;
  if (status >= 300) throw new Error(`an operation was answered with ${status}`);
  return time;
}
