import type { Answer } from '../check/answer.js';
import { expectOther } from '../check/expect.js';
import { AssertionFailure } from '../check/outcomes.js';
import type { RuleContext } from '../check/rule-context.js';

export type FailureBody = 'problem' | 'result';

/**
 * Expects a failed write to respond with problem details or with its own result body (A07). A response that is both
 * works
 * for every client, so it counts as the body that the specification supports best.
 */
export function expectFailureBody(t: RuleContext, where: string, answer: Answer, best: FailureBody): void {
  const isResult = answer.find('result', 'success') === false;
  const isProblem = answer.code !== undefined;
  if (!isResult && !isProblem) {
    const expected = ['problem', 'result'];
    throw new AssertionFailure('the body is problem details or a result', expected, answer.text.slice(0, 200));
  }
  if (isResult) {
    expectOther(answer.string('result', 'status'), '', 'result.status says what went wrong');
    expectOther(answer.string('result', 'message'), '', 'result.message says why');
  }
  const shape = isResult === isProblem ? best : isResult ? 'result' : 'problem';
  t.tolerateValue('A07', where, shape, [best, best === 'problem' ? 'result' : 'problem']);
  t.observe('body', isResult && isProblem ? 'problem with a result' : shape);
}
