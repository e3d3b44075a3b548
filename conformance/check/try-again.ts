import { AssertionFailure } from './outcomes.js';

const TRIES = 3;

/**
 * Runs a check and repeats it if it fails, up to `TRIES` times in all. Use it for checks that compare several responses
 * of a shared server, where a single failure proves nothing. Another client may change a list between two of its pages,
 * and an error may have an unknown code or an additional member.
 */
export async function tryAgain(check: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof AssertionFailure) || tries === TRIES) throw error;
    }
  }
}
