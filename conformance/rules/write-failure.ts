import type { ApiResponse } from '../check/api-response.js';
import { expectOther, expectTrue } from '../check/expect.js';
import { AssertionFailure } from '../check/outcomes.js';
import type { RuleContext } from '../check/rule-context.js';

export type FailureBody = 'problem' | 'result';

/** Kinds of failure bodies that a response has at the same time. */
interface FailureKinds {
  readonly isProblem: boolean;
  readonly isResult: boolean;
}

/** Expects a failed write to respond with problem details or with a write result (A07). Returns which of them it is. */
export function expectFailureKind(response: ApiResponse): FailureKinds {
  const isResult = response.find('result', 'success') === false;
  const isProblem = response.code !== undefined;
  if (!isResult && !isProblem) {
    const expected = ['problem', 'result'];
    throw new AssertionFailure(
      'the body must be problem details or a write result',
      expected,
      response.text.slice(0, 200),
    );
  }
  if (isResult) {
    const status = response.string('result', 'status');
    expectTrue(status !== '' && status !== 'ok', 'result.status must be a failure status', status);
    expectOther(response.string('result', 'message'), '', 'result.message must not be empty');
  }
  return { isProblem, isResult };
}

/**
 * Expects a failed write to respond with problem details or with a write result (A07), and records which of them it is.
 * `best` is the kind of body that the specification supports best. A body that is both counts as `best`, because it
 * works for every client.
 */
export function expectFailureBody(t: RuleContext, where: string, response: ApiResponse, best: FailureBody): void {
  const { isProblem, isResult } = expectFailureKind(response);
  const shape = isResult === isProblem ? best : isResult ? 'result' : 'problem';
  t.tolerateValue('A07', where, shape, [best, best === 'problem' ? 'result' : 'problem']);
  t.observe('body', isResult && isProblem ? 'problem with a result' : shape);
}
