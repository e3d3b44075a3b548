import { UsageError } from './usage-error.js';

/** Runs `act`; what it says of a source or a folder is said to the user. */
export async function sayingSource<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof Error && error.name === 'SourceError' ? new UsageError(error.message) : error;
  }
}
