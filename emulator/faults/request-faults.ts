import type { Action } from './fault.js';
import type { Position } from './stage.js';

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

/** The faults that may meet one request, and those that did. */
export interface RequestFaults {
  /** False for almost every request, also once no fault can meet it any more: then nothing else needs to be asked. */
  readonly isArmed: boolean;
  /**
   * What happens at a stage: chosen in one step, each counter taken at once, before anything waits. At most one of the
   * actions ends the stage (an error, a raw answer, a cut, a lost answer); delays come before it in the list.
   */
  take(stage: Position): readonly ChosenAction[];
  /** Records facts from the body of a Git request. They are known at this and all later stages. */
  learn(git: GitFacts): void;
  /** Ids of the faults that touched the request, in order. */
  readonly fired: readonly string[];
  /** The last of them that ended a stage; undefined while none has. */
  readonly decisive: string | undefined;
  /** Why faults that nearly met the request did not, a sentence each. */
  readonly reasons: readonly string[];
  /** Reasons that concern faults which the request itself asked for. Faults held back by their counters are left out. */
  readonly ignored: readonly string[];
  /** Whether a fault asks what the JSON body says. */
  readonly needsBody: boolean;
  /** Adds a reason for each fault that the request asked for and whose stage it did not reach. */
  end(): void;
  /** Resolves when the latch is released, or the client has gone. */
  released(latch: string, signal: AbortSignal): Promise<void>;
}
