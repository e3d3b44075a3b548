import { Problem } from '../../http/problem.js';

/** Returns the `Problem` (API error) that `run` throws. Undefined if it throws nothing. */
export function failure(run: () => unknown): Problem | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
