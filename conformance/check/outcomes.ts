import { type Exchange, FAULT_FIRED } from '../http/exchange.js';
import { NoAnswer, RunEnded } from '../http/no-answer.js';
import { Throttled } from '../http/throttling.js';

/** An expectation that the target did not meet: it becomes a verdict about the target. */
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

/** A rule that holds everywhere would be checked on what a fault of the emulator made: a mistake of the suite. */
export class InjectedEvidence extends Error {
  override readonly name = 'InjectedEvidence';

  constructor({ method, path, headers }: Exchange) {
    super(
      `${method} ${path} was answered by the fault ${headers[FAULT_FIRED]}: only rules of reach emulator rest on that`,
    );
  }
}

/** The rule cannot be checked on this target; the message is the reason that the report gives. */
export class Skip extends Error {
  override readonly name = 'Skip';
}

/** Something that the rule rests on could not be made; why not is told once, of what could not be made. */
export class NeedsSetUp extends Error {
  override readonly name = 'NeedsSetUp';

  constructor(step: string) {
    super(`needs the fixture "${step}", which could not be made`);
  }
}

/** Whether an error is the suite's own word for how a rule came out, and not something that went wrong on the way. */
export function isOutcome(error: unknown): boolean {
  return (
    [AssertionFailure, Skip, NeedsSetUp, InjectedEvidence, Throttled, NoAnswer, RunEnded].some(
      (outcome) => error instanceof outcome,
    ) || (error as Error | null | undefined)?.name === 'AbortError'
  );
}

/** The target answers otherwise than what was written down of it: that fails, however binding the rule is. */
export class PinnedDrift extends AssertionFailure {}
