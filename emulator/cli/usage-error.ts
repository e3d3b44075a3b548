/** The command line requests something impossible: one sentence on standard error, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** No emulator responds: one sentence on standard error, exit code 3. */
export class Unreached extends Error {
  override readonly name = 'Unreached';
}

/** Runs `act`, and converts a `SourceError` to a `UsageError`. */
export async function sayingSource<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof Error && error.name === 'SourceError' ? new UsageError(error.message) : error;
  }
}
