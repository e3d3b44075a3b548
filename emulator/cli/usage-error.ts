/** The command line asks for something that cannot be done: one sentence on standard error, exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
