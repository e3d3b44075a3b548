import type { Action } from './fault.js';
import type { Position } from './stage.js';

/** An action that was chosen for a request. Its counter is taken. */
export interface ChosenAction {
  /** Of the fault. */
  readonly id: string;
  readonly action: Action;
}

/** What is known of a Git request at a stage, beyond what the request's head says. */
export interface GitFacts {
  readonly command?: 'ls-refs' | 'fetch' | 'object-info';
  /** Full names, as the client writes them. */
  readonly refs?: readonly string[];
}

/** The faults that may meet one request, and those that did. */
export interface RequestFaults {
  /** False for almost every request, also once no fault can meet it any more: then nothing else needs to be asked. */
  readonly isArmed: boolean;
  /**
   * What happens at a stage: chosen in one step, each counter taken at once, before anything waits. At most one of the
   * actions ends the stage (an error, a raw answer, a cut, a lost answer); delays come before it in the list.
   */
  take(stage: Position, facts?: GitFacts): readonly ChosenAction[];
  /** Ids of the faults that touched the request, in order. */
  readonly fired: readonly string[];
  /** The last of them that ended a stage; undefined while none has. */
  readonly decisive: string | undefined;
  /** Why faults that nearly met the request did not, a sentence each. */
  readonly reasons: readonly string[];
  /** Whether a fault asks what the JSON body says. */
  readonly needsBody: boolean;
  /** Resolves when the latch is released, or the client has gone. */
  released(latch: string, signal: AbortSignal): Promise<void>;
}
