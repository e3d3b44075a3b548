import { type Exchange, FAULT_FIRED } from '../http/exchange.js';

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

/** A rule that holds everywhere would be judged on what a fault of the emulator made: a mistake of the suite. */
export class InjectedEvidence extends Error {
  override readonly name = 'InjectedEvidence';

  constructor({ method, path, headers }: Exchange) {
    super(
      `${method} ${path} was answered by the fault ${headers[FAULT_FIRED]}: only rules of reach emulator rest on that`,
    );
  }
}

/** The rule cannot be judged on this target; the message is the reason that the report gives. */
export class Skip extends Error {
  override readonly name = 'Skip';
}
