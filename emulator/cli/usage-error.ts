/** The command line asks for something that cannot be done: one sentence on standard error, exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** No emulator answers: one sentence on standard error, exit 3. */
export class Unreached extends Error {
  override readonly name = 'Unreached';
}
