import type { Action } from './fault.js';

/** An action that was chosen for a request. Its counter is taken. */
export interface ChosenAction {
  /** Of the fault. */
  readonly id: string;
  readonly action: Action;
}

/** Facts from the body of a Git request. */
export interface GitFacts {
  readonly command?: 'ls-refs' | 'fetch' | 'object-info' | undefined;
  /** Full names, as the client writes them. */
  readonly refs?: readonly string[] | undefined;
}
