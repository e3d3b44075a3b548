import type { Problem } from '../problem.js';

/** Returns the code of the `Problem` that `call` throws. Returns `passed` if it throws nothing. */
export function codeOf(call: () => unknown): string {
  try {
    call();
    return 'passed';
  } catch (error) {
    return (error as Problem).code ?? String(error);
  }
}
