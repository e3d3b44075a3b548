/** Error in the command line or in a file named there. The exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Runs `act`. Converts its error to a `UsageError` whose message begins with `about`. */
export async function asUsageError<Value>(about: string, act: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    throw new UsageError(about + (error instanceof Error ? error.message : String(error)));
  }
}
