/**
 * Thrown if the command line requests something impossible. The message is printed to standard error, and the exit code
 * is 2.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Thrown if no emulator responds to a command. The message is printed to standard error, and the exit code is 3. */
export class Unreached extends Error {
  override readonly name = 'Unreached';
}

/** Runs `act`. Converts a `SourceError` (an error in data to import) to a `UsageError` with the same message. */
export async function sayingSource<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof Error && error.name === 'SourceError' ? new UsageError(error.message) : error;
  }
}
