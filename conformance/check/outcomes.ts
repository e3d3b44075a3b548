import { type Exchange, FAULT_FIRED } from '../http/exchange.js';
import { NoResponse, RunEnded } from '../http/no-response.js';
import { Throttled } from '../http/throttling.js';

/**
 * Thrown if the target does not meet an expectation of a rule. The rule's verdict is then that the target breaks it.
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
 * Thrown if an injected fault made or changed a response, but the rule's reach is not `emulator`. Only rules with reach
 * `emulator` may inject faults, so the verdict is an internal error of the suite.
 */
export class InjectedEvidence extends Error {
  override readonly name = 'InjectedEvidence';

  constructor({ method, path, headers }: Exchange) {
    super(`the fault ${headers[FAULT_FIRED]} answered ${method} ${path}, which only rules of reach emulator may use`);
  }
}

/**
 * Thrown if a rule cannot be checked on this target, for example because no second key was given. The report shows the
 * message as the reason.
 */
export class Skip extends Error {
  override readonly name = 'Skip';
}

/**
 * Thrown if a rule needs a fixture (prepared state of the target) that could not be created. The rule's verdict is then
 * "blocked". The report shows the cause once, in the fixture's own entry.
 */
export class NeedsSetUp extends Error {
  override readonly name = 'NeedsSetUp';

  constructor(step: string) {
    super(`needs the fixture "${step}", which could not be created`);
  }
}

/**
 * Returns true if the suite throws this error on purpose, or if the error is an abort. Any other error is unexpected.
 */
export function isOutcome(error: unknown): boolean {
  return (
    [AssertionFailure, Skip, NeedsSetUp, InjectedEvidence, Throttled, NoResponse, RunEnded].some(
      (outcome) => error instanceof outcome,
    ) || (error as Error | null | undefined)?.name === 'AbortError'
  );
}

/**
 * Thrown if the target behaves differently from the variant that its target file records for an unclear behaviour. The
 * rule then always fails, even at a level at which a broken requirement is only a warning.
 */
export class PinnedDrift extends AssertionFailure {}
