import { AssertionFailure } from './outcomes.js';

const TRIES = 3;

/**
 * Repeats a check that compares several responses. One failure proves nothing about a shared server: other clients may
 * change a list between two of its pages, and an error may have an unknown code or an additional member.
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
