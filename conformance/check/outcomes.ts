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

/** The rule cannot be judged on this target; the message is the reason that the report gives. */
export class Skip extends Error {
  override readonly name = 'Skip';
}
