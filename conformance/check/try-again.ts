import { AssertionFailure } from './outcomes.js';

const TRIES = 3;

/**
 * Compares answers to several requests. One try proves nothing against a server: others may change a list between two
 * of its pages, and an error may come with a code that is new or a member that is more.
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
