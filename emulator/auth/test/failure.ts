import { Problem } from '../../http/problem.js';

/** Returns the problem that `run` throws; undefined if it throws none. */
export function failure(run: () => unknown): Problem | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
