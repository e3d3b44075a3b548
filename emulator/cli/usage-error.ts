/** The command line asks for something that cannot be done: one sentence on standard error, exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** No emulator answers: one sentence on standard error, exit 3. */
export class Unreached extends Error {
  override readonly name = 'Unreached';
}

/** Runs `act`; what it says of a source or a folder is said to the user. */
export async function sayingSource<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof Error && error.name === 'SourceError' ? new UsageError(error.message) : error;
  }
}
