import type { ClockChanges } from '../changes/clock-changes.js';
import type { RepositoryChanges, StateChanges } from '../changes/state-changes.js';
import type { Fault, GivenFault } from '../faults/fault.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import type { Expectations } from '../journal/expectations.js';
import type { QuotaChanges } from '../quotas/quota-changes.js';

/** Limits for the scenarios of one world (state of an emulated service). */
export const SCENARIO_LIMITS = {
  /** Maximum number of registered scenarios. */
  registered: 100,
  /** Maximum number of faults in each list of a scenario. */
  faults: 100,
  /** Maximum number of steps of a scenario. */
  steps: 1_000,
  /** Maximum number of repository names with wildcards in one `state` of a scenario. */
  patterns: 100,
  /** Maximum number of failed changes that are kept for each scenario. Older ones are dropped. */
  problems: 20,
} as const;

/**
 * Conditions for the request that triggers a scenario step. All given conditions must match. Texts are globs. The
 * conditions are checked when the response is decided.
 */
export interface Trigger {
  /** Operation ids or globs. `emulator routes` lists the ids of all operations (API endpoints and Git services). */
  readonly op?: string | readonly string[] | undefined;
  readonly method?: string | undefined;
  readonly org?: string | undefined;
  readonly repo?: string | undefined;
  /** Branch that the request created, updated or deleted, by a Git push or through the API. */
  readonly push?: string | undefined;
  /** Ref that the request moved. Also a ref that the body of a Git request names. */
  readonly ref?: string | undefined;
  /** HTTP status of the response, or a class of statuses such as `4xx`. */
  readonly status?: number | string | readonly (number | string)[] | undefined;
  readonly code?: string | undefined;
  /** Id of an injected fault that fired for the request. */
  readonly fault?: string | undefined;
  /** Scenario id that the client sent with the request. */
  readonly scenario?: string | undefined;
  /** Number of matching requests that trigger the step. Default: 1. */
  readonly times?: number | undefined;
}

/** Changes that a scenario step makes in the emulated service. */
export interface Changes {
  readonly clock?: ClockChanges | undefined;
  readonly quotas?: QuotaChanges | undefined;
  readonly state?: StateChanges | undefined;
  /** Changes to the repository of the request that triggered the step. */
  readonly repository?: RepositoryChanges | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** Name of a latch to release. Requests with a `hold` fault wait at a latch until it is released. */
  readonly release?: string | undefined;
}

/** Step of a scenario. It waits for a request (`on`), then makes its changes. */
export interface Step extends Changes {
  readonly on?: Trigger | undefined;
  /**
   * Delay of the changes after the triggering request. Without `on`, the delay begins after the previous step. ISO 8601
   * duration or milliseconds, on the emulated service's clock.
   */
  readonly after?: string | number | undefined;
}

/**
 * Scenario for a test: the initial state of an emulated service, its faults, and steps that change it later. Names in
 * `state` may be globs.
 */
export interface Scenario {
  readonly id: string;
  readonly about?: string | undefined;
  /**
   * Seed for all random choices of the emulator. It has an effect only if the emulator is started with the scenario.
   */
  readonly seed?: string | undefined;
  readonly clock?: ClockChanges | undefined;
  readonly state?: StateChanges | undefined;
  readonly quotas?: QuotaChanges | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** Steps in the order in which they run. Each step waits for all earlier steps. */
  readonly steps?: readonly Step[] | undefined;
  readonly expect?: Expectations | undefined;
}

/** Step of a scenario as a user writes it. */
export type GivenStep = Omit<Step, 'on' | 'faults'> & {
  /** Conditions, or the text `push to BRANCH`. */
  readonly on?: string | Trigger | undefined;
  readonly faults?: readonly (string | GivenFault)[] | undefined;
};

/** Scenario as a user writes it, in a file or as an object. Faults can be texts, and some members have short forms. */
export type GivenScenario = Omit<Scenario, 'clock' | 'faults' | 'steps'> & {
  /** Changes of the clock, the text `real`, or the start time (ISO 8601) of a clock that advances with each request. */
  readonly clock?: string | ClockChanges | undefined;
  readonly faults?: readonly (string | GivenFault)[] | undefined;
  /** Steps in the order in which they run. Each step waits for all earlier steps. */
  readonly steps?: readonly GivenStep[] | undefined;
};

/** Organization and repository of the request that triggered a step. The step can change that repository. */
export interface TriggeredBy {
  readonly organization: string;
  readonly repository: string | undefined;
}

/**
 * Changes that a scenario makes to repositories that do not exist yet. They are applied when a repository is created
 * whose name matches `pattern`.
 */
export interface WaitingState {
  readonly organization: string;
  readonly pattern: string;
  readonly changes: RepositoryChanges;
}

/** Progress of a scenario through its steps. Immutable, because snapshots of the emulated service share it. */
export interface Progress {
  /** Index of the next step in `Scenario.steps`. */
  readonly next: number;
  /** Number of requests so far that matched the trigger of the next step. */
  readonly seen: number;
  /**
   * Time at which the next step makes its changes, in milliseconds on the emulated service's clock. Undefined while the
   * step still waits for its request.
   */
  readonly due?: number | undefined;
  readonly trigger?: TriggeredBy | undefined;
}

/**
 * Scenario that is registered in a world (state of an emulated service), with its progress. Immutable, because
 * snapshots of the world share it.
 */
export interface LoadedScenario {
  readonly scenario: Scenario;
  /** All operations of the service. They are needed to validate the faults that steps add later. */
  readonly operations: readonly FaultedOperation[];
  /** Organization of the repositories in `Scenario.state`. */
  readonly organization: string;
  /** True once the scenario was started. Until then, its faults apply only to requests that name the scenario. */
  readonly isStarted: boolean;
  /** Ids of the faults that the scenario registered. They are removed with the scenario. */
  readonly faults: readonly string[];
  /**
   * Id of the last request before the scenario was started; undefined if there was none. The scenario's expectations
   * apply only to later requests.
   */
  readonly after?: string | undefined;
  readonly waiting: readonly WaitingState[];
  readonly progress: Progress;
  /** Errors of failed changes, newest last. At most `SCENARIO_LIMITS.problems` are kept. */
  readonly problems: readonly string[];
}
