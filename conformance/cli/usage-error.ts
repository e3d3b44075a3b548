/** A mistake in how the suite was called: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Runs `act`, and turns what it throws into a `UsageError` whose message begins with `about`. */
export async function asUsageError<Value>(about: string, act: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    throw new UsageError(about + (error instanceof Error ? error.message : String(error)));
  }
}
