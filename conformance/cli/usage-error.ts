/** A mistake in how the suite was called: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
