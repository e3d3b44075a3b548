import type { ClockChanges } from '../changes/clock-changes.js';
import type { RepositoryChanges, StateChanges } from '../changes/state-changes.js';
import type { Fault } from '../faults/fault.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import type { Expectations } from '../journal/expectations.js';
import type { QuotaChanges } from '../quotas/quota-changes.js';

/** Limits for the scenarios of one world (one emulated service with its own state). */
export const SCENARIO_LIMITS = {
  /** Maximum number of registered scenarios. */
  registered: 100,
  /** Maximum number of faults in each list of a scenario. */
  faults: 100,
  /** Maximum number of steps of a scenario. */
  steps: 1_000,
  /** Maximum number of repository names with wildcards in one `state` of a scenario. */
  patterns: 100,
  /** Number of failed changes that a scenario remembers: the most recent ones. */
  problems: 20,
} as const;

/**
 * Conditions for the request that triggers a step of a scenario. All given members must match. Texts are globs. They
 * are checked when the response to the request is decided.
 */
export interface Trigger {
  /** Ids of operations (API endpoints and Git services), as printed by `emulator routes`, or globs. */
  readonly op?: string | readonly string[] | undefined;
  readonly method?: string | undefined;
  readonly org?: string | undefined;
  readonly repo?: string | undefined;
  /** Branch that the request moved (created, updated or deleted), by a Git push or through the API. */
  readonly push?: string | undefined;
  /** Ref that the request moved, or that a Git request names in its body. */
  readonly ref?: string | undefined;
  /** HTTP status of the response, or a class such as `4xx`. */
  readonly status?: number | string | readonly (number | string)[] | undefined;
  readonly code?: string | undefined;
  /** Id of an injected fault that fired for the request. */
  readonly fault?: string | undefined;
  /** Scenario id that the client sends with the request. */
  readonly scenario?: string | undefined;
  /** Number of matching requests that must arrive until the step is triggered. Default: 1. */
  readonly times?: number | undefined;
}

/** Changes that a step of a scenario makes in the emulated service. */
export interface Changes {
  readonly clock?: ClockChanges | undefined;
  readonly quotas?: QuotaChanges | undefined;
  readonly state?: StateChanges | undefined;
  /** Changes of one repository: the one that the triggering request is about. */
  readonly repository?: RepositoryChanges | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** Name of a latch to release. A latch is a barrier at which requests with a `hold` fault wait. */
  readonly release?: string | undefined;
}

/** Step of a scenario: the request for which it waits (`on`), and the changes that it then makes. */
export interface Step extends Changes {
  readonly on?: Trigger | undefined;
  /**
   * Delay of the changes after the triggering request, or after the previous step if there is no `on`. Counted on the
   * clock of the emulated service: ISO 8601 duration, or milliseconds.
   */
  readonly after?: string | number | undefined;
}

/**
 * Scenario for a test: the initial state of an emulated service, its faults, and steps that change the state later.
 * Names in `state` may be globs.
 */
export interface Scenario {
  readonly id: string;
  readonly about?: string | undefined;
  /** Seed of all random choices of the emulator. Used only if the emulator is started with the scenario. */
  readonly seed?: string | undefined;
  readonly clock?: ClockChanges | undefined;
  readonly state?: StateChanges | undefined;
  readonly quotas?: QuotaChanges | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** Steps in the order in which they run. A step can run only after all steps before it. */
  readonly steps?: readonly Step[] | undefined;
  readonly expect?: Expectations | undefined;
}

/** Organization and repository of the request that triggered a step. The step can change this repository. */
export interface TriggeredBy {
  readonly organization: string;
  readonly repository: string | undefined;
}

/**
 * State that a scenario specifies for repositories that do not exist yet. It is applied when a repository is created
 * whose name matches `pattern`.
 */
export interface WaitingState {
  readonly organization: string;
  readonly pattern: string;
  readonly changes: RepositoryChanges;
}

/**
 * Progress of a scenario, that is, which step is next. Immutable, because snapshots of the emulated service share it.
 */
export interface Progress {
  /** Index of the next step in `Scenario.steps`. */
  readonly next: number;
  /** Number of requests that have matched the trigger of the next step so far. */
  readonly seen: number;
  /**
   * Time at which the next step makes its changes, in milliseconds on the clock of the emulated service. Undefined
   * until the request for which the step waits has arrived.
   */
  readonly due?: number | undefined;
  readonly trigger?: TriggeredBy | undefined;
}

/**
 * Scenario that is registered in a world (one emulated service), with its progress. Immutable, because snapshots of the
 * world share it.
 */
export interface LoadedScenario {
  readonly scenario: Scenario;
  /** All operations of the service, which are needed to validate faults that steps add later. */
  readonly operations: readonly FaultedOperation[];
  /** Organization to which the repositories belong that `Scenario.state` names. */
  readonly organization: string;
  /** True after the scenario was started. Before, its faults apply only to requests that name the scenario. */
  readonly isStarted: boolean;
  /** Ids of the registered faults that the scenario has added, so that they can be removed with it. */
  readonly faults: readonly string[];
  /**
   * Id of the last request before the start of the scenario; undefined if there was none. Only later requests count for
   * its expectations.
   */
  readonly after?: string | undefined;
  readonly waiting: readonly WaitingState[];
  readonly progress: Progress;
  /** Errors of the steps whose change of the service failed, newest last; at most `SCENARIO_LIMITS.problems`. */
  readonly problems: readonly string[];
}
