import { type Exchange, FAULT_FIRED } from '../http/exchange.js';
import { NoResponse, RunEnded } from '../http/no-response.js';
import { Throttled } from '../http/throttling.js';

/** Failed expectation about the target. It becomes a verdict about the target. */
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
 * A rule of a reach other than `emulator` received a response made by an injected fault. This is an error of the suite.
 */
export class InjectedEvidence extends Error {
  override readonly name = 'InjectedEvidence';

  constructor({ method, path, headers }: Exchange) {
    super(`the fault ${headers[FAULT_FIRED]} answered ${method} ${path}, which only rules of reach emulator may use`);
  }
}

/** The rule cannot be checked on this target. The message is the reason in the report. */
export class Skip extends Error {
  override readonly name = 'Skip';
}

/** A fixture of the rule could not be created. The reason is reported once, with the fixture. */
export class NeedsSetUp extends Error {
  override readonly name = 'NeedsSetUp';

  constructor(step: string) {
    super(`needs the fixture "${step}", which could not be created`);
  }
}

/** Returns true if the error is an outcome that the suite throws on purpose, and not an unexpected error. */
export function isOutcome(error: unknown): boolean {
  return (
    [AssertionFailure, Skip, NeedsSetUp, InjectedEvidence, Throttled, NoResponse, RunEnded].some(
      (outcome) => error instanceof outcome,
    ) || (error as Error | null | undefined)?.name === 'AbortError'
  );
}

/** The target responds differently from its target file. This fails the rule whatever its level. */
export class PinnedDrift extends AssertionFailure {}
