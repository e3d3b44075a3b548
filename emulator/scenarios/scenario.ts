import type { ClockChanges } from '../changes/clock-changes.js';
import type { RepositoryChanges, StateChanges } from '../changes/state-changes.js';
import type { Fault } from '../faults/fault.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import type { Expectations } from '../journal/expectations.js';
import type { QuotaChanges } from '../quotas/quota-changes.js';

/** What bounds the scenarios of one world. */
export const SCENARIO_LIMITS = {
  /** Scenarios that are registered at a time. */
  registered: 100,
  faults: 100,
  steps: 1_000,
  /** Names of repositories that are patterns, in one state. */
  patterns: 100,
  /** Changes of one scenario that could not be made and are remembered: the last. */
  problems: 20,
} as const;

/** A request that was answered, as far as a step waits for it. All that is given has to hold; texts are globs. */
export interface Trigger {
  /** Ids as `emulator routes` prints them. */
  readonly op?: string | readonly string[] | undefined;
  readonly method?: string | undefined;
  readonly org?: string | undefined;
  readonly repo?: string | undefined;
  /** A branch that it moved, by a push of Git or through the API. */
  readonly push?: string | undefined;
  /** A ref that it moved, or that a request of Git names. */
  readonly ref?: string | undefined;
  /** A number, or a class: `4xx`. */
  readonly status?: number | string | readonly (number | string)[] | undefined;
  readonly code?: string | undefined;
  /** The id of a fault that touched it. */
  readonly fault?: string | undefined;
  /** The scenario that the client sends. */
  readonly scenario?: string | undefined;
  /** It is the so manieth of them; 1 unless given. */
  readonly times?: number | undefined;
}

/** What is changed when a step comes. */
export interface Changes {
  readonly clock?: ClockChanges | undefined;
  readonly quotas?: QuotaChanges | undefined;
  readonly state?: StateChanges | undefined;
  /** The repository of the request that was waited for last. */
  readonly repository?: RepositoryChanges | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** The name of a latch. */
  readonly release?: string | undefined;
}

/** One step: what it waits for, and what it changes then. */
export interface Step extends Changes {
  readonly on?: Trigger | undefined;
  /** On the world's clock: since the request that was waited for, or the step before. */
  readonly after?: string | number | undefined;
}

/** A story that a world plays: how it begins, and what happens on the way. Names in `state` may be globs. */
export interface Scenario {
  readonly id: string;
  readonly about?: string | undefined;
  /** Counts where an emulator is started with it. */
  readonly seed?: string | undefined;
  readonly clock?: ClockChanges | undefined;
  readonly state?: StateChanges | undefined;
  readonly quotas?: QuotaChanges | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** One behind the other. */
  readonly steps?: readonly Step[] | undefined;
  readonly expect?: Expectations | undefined;
}

/** The request that a step came from. */
export interface TriggeredBy {
  readonly organization: string;
  readonly repository: string | undefined;
}

/** The state of repositories that are still to be created. */
export interface WaitingState {
  readonly organization: string;
  readonly pattern: string;
  readonly changes: RepositoryChanges;
}

/** How far a scenario has come: an immutable value. */
export interface Progress {
  /** The step that is next. */
  readonly next: number;
  /** Requests that it has waited for so far. */
  readonly seen: number;
  /** Milliseconds on the world's clock: when it comes, where that is known. */
  readonly due?: number | undefined;
  readonly trigger?: TriggeredBy | undefined;
}

/** A scenario that a world has: an immutable value. */
export interface LoadedScenario {
  readonly scenario: Scenario;
  /** Every operation there is, for faults that a step adds. */
  readonly operations: readonly FaultedOperation[];
  /** Whose repositories its state names. */
  readonly organization: string;
  /** Not started, it only meets requests that name it. */
  readonly isStarted: boolean;
  /** Ids of the faults that it has added. */
  readonly faults: readonly string[];
  /** The last request before it was started. */
  readonly after?: string | undefined;
  readonly waiting: readonly WaitingState[];
  readonly progress: Progress;
  /** Changes that could not be made, in words. */
  readonly problems: readonly string[];
}
