import type { ClockChanges } from '../changes/clock-changes.js';
import type { RepositoryChanges, StateChanges } from '../changes/state-changes.js';
import type { Fault } from '../faults/fault.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import type { Expectations } from '../journal/expectations.js';
import type { QuotaChanges } from '../quotas/quota-changes.js';

/** Limits for the scenarios of one world. */
export const SCENARIO_LIMITS = {
  /** Registered scenarios. */
  registered: 100,
  faults: 100,
  steps: 1_000,
  /** Repository names with wildcards in one `state`. */
  patterns: 100,
  /** Most recent failed changes that a scenario remembers. */
  problems: 20,
} as const;

/** Conditions for a request whose response was decided. All given members must match. Texts are globs. */
export interface Trigger {
  /** Operation ids as printed by `emulator routes`, or globs. */
  readonly op?: string | readonly string[] | undefined;
  readonly method?: string | undefined;
  readonly org?: string | undefined;
  readonly repo?: string | undefined;
  /** Branch that the request moved, by a Git push or through the API. */
  readonly push?: string | undefined;
  /** Ref that the request moved, or that a Git request names. */
  readonly ref?: string | undefined;
  /** Status, or a class such as `4xx`. */
  readonly status?: number | string | readonly (number | string)[] | undefined;
  readonly code?: string | undefined;
  /** Id of a fault that affected the request. */
  readonly fault?: string | undefined;
  /** Scenario that the client names in the request. */
  readonly scenario?: string | undefined;
  /** Number of matching requests that trigger the step. Default: 1. */
  readonly times?: number | undefined;
}

/** Changes that a step makes. */
export interface Changes {
  readonly clock?: ClockChanges | undefined;
  readonly quotas?: QuotaChanges | undefined;
  readonly state?: StateChanges | undefined;
  /** New state of the repository of the last triggering request. */
  readonly repository?: RepositoryChanges | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** Name of a latch to release. */
  readonly release?: string | undefined;
}

/** Step of a scenario: its trigger and its changes. */
export interface Step extends Changes {
  readonly on?: Trigger | undefined;
  /** Delay on the world's clock after the triggering request, or after the previous step if there is no `on`. */
  readonly after?: string | number | undefined;
}

/** Scenario: the initial state of a world, and changes in steps. Names in `state` may be globs. */
export interface Scenario {
  readonly id: string;
  readonly about?: string | undefined;
  /** Seed of the emulator. Used only if the emulator is started with the scenario. */
  readonly seed?: string | undefined;
  readonly clock?: ClockChanges | undefined;
  readonly state?: StateChanges | undefined;
  readonly quotas?: QuotaChanges | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** Steps, which run in this order. */
  readonly steps?: readonly Step[] | undefined;
  readonly expect?: Expectations | undefined;
}

/** Facts about the request that triggered a step. */
export interface TriggeredBy {
  readonly organization: string;
  readonly repository: string | undefined;
}

/** State for repositories that do not exist yet. */
export interface WaitingState {
  readonly organization: string;
  readonly pattern: string;
  readonly changes: RepositoryChanges;
}

/** Progress of a scenario. Immutable. */
export interface Progress {
  /** Index of the next step. */
  readonly next: number;
  /** Number of requests so far that match the trigger of the next step. */
  readonly seen: number;
  /** Time of the next step, in milliseconds on the world's clock; undefined until its request has arrived. */
  readonly due?: number | undefined;
  readonly trigger?: TriggeredBy | undefined;
}

/** Registered scenario of a world. Immutable. */
export interface LoadedScenario {
  readonly scenario: Scenario;
  /** All operations, for faults that steps add. */
  readonly operations: readonly FaultedOperation[];
  /** Organization of the repositories that `state` names. */
  readonly organization: string;
  /** True after `start`. Before it, the faults of the scenario apply only to requests that name the scenario. */
  readonly isStarted: boolean;
  /** Ids of the faults that the scenario added. */
  readonly faults: readonly string[];
  /** Id of the last request before the start of the scenario; undefined if there was none. */
  readonly after?: string | undefined;
  readonly waiting: readonly WaitingState[];
  readonly progress: Progress;
  /** Descriptions of changes that failed, at most 20. */
  readonly problems: readonly string[];
}
