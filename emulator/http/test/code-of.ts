import type { Problem } from '../problem.js';

/** The code a call refuses with, or `passed`. */
export function codeOf(call: () => unknown): string {
  try {
    call();
    return 'passed';
  } catch (error) {
    return (error as Problem).code ?? String(error);
  }
}
