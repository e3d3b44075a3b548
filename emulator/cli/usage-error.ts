/** Error if the command line requests something impossible. Its message is printed to standard error; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Error if no emulator responds to a command. Its message is printed to standard error; exit code 3. */
export class Unreached extends Error {
  override readonly name = 'Unreached';
}

/** Runs `act`, and converts a `SourceError` (error in data to import) to a `UsageError` with the same message. */
export async function sayingSource<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof Error && error.name === 'SourceError' ? new UsageError(error.message) : error;
  }
}
