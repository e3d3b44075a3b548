import { type Exchange, FAULT_FIRED } from '../http/exchange.js';
import { NoResponse, RunEnded } from '../http/no-response.js';
import { Throttled } from '../http/throttling.js';

/**
 * Thrown if the target does not meet an expectation of a rule. The verdict then says that the target breaks the rule.
 */
export class AssertionFailure extends Error {
  override readonly name = 'AssertionFailure';

  constructor(
    readonly what: string,
    readonly expected: unknown,
    readonly actual: unknown,
  ) {
    super(what);
  }
}

/**
 * Thrown if a rule received a response that an injected fault made or changed, although the rule's reach is not
 * `emulator`. Only rules of this reach inject faults, so the verdict is an internal error of the suite.
 */
export class InjectedEvidence extends Error {
  override readonly name = 'InjectedEvidence';

  constructor({ method, path, headers }: Exchange) {
    super(`the fault ${headers[FAULT_FIRED]} answered ${method} ${path}, which only rules of reach emulator may use`);
  }
}

/**
 * Thrown if a rule cannot be checked on this target, for example without a second key. The message is the reason in the
 * report.
 */
export class Skip extends Error {
  override readonly name = 'Skip';
}

/**
 * Thrown if a fixture (prepared state of the target) that a rule needs could not be created. The rule is blocked. The
 * cause is reported once, in the entry of the fixture.
 */
export class NeedsSetUp extends Error {
  override readonly name = 'NeedsSetUp';

  constructor(step: string) {
    super(`needs the fixture "${step}", which could not be created`);
  }
}

/**
 * Returns true if the suite throws this error on purpose, or if the error is an abort. All other errors are unexpected.
 */
export function isOutcome(error: unknown): boolean {
  return (
    [AssertionFailure, Skip, NeedsSetUp, InjectedEvidence, Throttled, NoResponse, RunEnded].some(
      (outcome) => error instanceof outcome,
    ) || (error as Error | null | undefined)?.name === 'AbortError'
  );
}

/**
 * Thrown if the target uses another variant of an unclear behaviour than its target file records. The rule then fails
 * even if a broken requirement of its level would only be a warning.
 */
export class PinnedDrift extends AssertionFailure {}
