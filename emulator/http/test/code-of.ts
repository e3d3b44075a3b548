import type { Problem } from '../problem.js';

/** Returns the code of the problem that the call throws; `passed` if it throws none. */
export function codeOf(call: () => unknown): string {
  try {
    call();
    return 'passed';
  } catch (error) {
    return (error as Problem).code ?? String(error);
  }
}
