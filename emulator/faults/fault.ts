import type { Action, KindValues } from './kinds/index.js';
import type { Stage } from './stage.js';

export type { Action } from './kinds/index.js';

/**
 * Injected fault (an error, delay or defect that the emulator causes on purpose), in its JSON form. It states to which
 * requests it applies (`match`), how often it fires (`when`), at which stage of a request (`at`), and what it does
 * (`do`).
 */
export interface Fault {
  /** Id of the fault. If absent, the emulator assigns one, such as `fault-1`. */
  readonly id?: string;
  readonly note?: string;
  /**
   * Priority among faults that match the same request. The highest is tried first. Among equal ones, the fault that was
   * registered first is tried first.
   */
  readonly priority?: number;
  readonly match?: Match;
  readonly when?: When;
  /**
   * Stage of a request at which the fault fires. Default: the default stage of its action, usually `before` (after all
   * checks and before the operation has an effect).
   */
  readonly at?: Stage;
  readonly do?: Action | readonly Action[];
  /**
   * Actions for consecutive requests, instead of `do`: the first matching request gets the first entry, the second one
   * the second entry, and so on. `pass` is an entry without an action. After the last entry, the fault no longer fires.
   */
  readonly sequence?: readonly (Action | 'pass')[];
  /** Number of firings that `verify` (the check at the end of a test) requires. Default: at least 1. */
  readonly expect?: { readonly fired: number | { readonly min?: number; readonly max?: number } };
  /** Lifetime: ISO 8601 duration on the clock of the emulated service after which the fault is removed. */
  readonly ttl?: string;
}

/**
 * Condition on a value of a request: a text that may contain the wildcards `*` and `?`, or an object whose members must
 * all match.
 */
export type Matcher =
  | string
  | { readonly equals?: unknown; readonly contains?: string; readonly glob?: string; readonly present?: boolean };

/** Facts about a Git request that its URL and headers contain, so that they are known before the body is read. */
export interface GitHead {
  readonly service: 'upload-pack' | 'receive-pack';
  readonly phase: 'advertise' | 'rpc';
  readonly protocol: 0 | 1 | 2;
}

/** Conditions of a fault on a request, all of which must hold. Texts may contain the wildcards `*` and `?`. */
export interface Match {
  /**
   * Ids of the operations (API endpoints or Git services), as `emulator routes` prints them, or globs: `commitPack`,
   * `git*`.
   */
  readonly op?: string | readonly string[];
  readonly org?: string;
  /** Name of the repository, without percent-encoding: `team/app`. */
  readonly repo?: string;
  readonly token?: {
    readonly sub?: string;
    readonly kid?: string;
    readonly alg?: string;
    readonly scopes?: { readonly has?: readonly string[]; readonly lacks?: readonly string[] };
    readonly claims?: Readonly<Record<string, Matcher>>;
  };
  readonly http?: {
    readonly method?: string;
    readonly header?: Readonly<Record<string, Matcher>>;
    readonly query?: Readonly<Record<string, Matcher>>;
    /** Conditions on members of the JSON body. The names are JSON pointers (RFC 6901), such as `/author/name`. */
    readonly body?: Readonly<Record<string, Matcher>>;
  };
  readonly git?: Partial<GitHead> & {
    readonly command?: 'ls-refs' | 'fetch' | 'object-info';
    readonly ref?: string;
  };
  /** Id of the test scenario that the client sends in a header or in a claim of its token. */
  readonly scenario?: string;
}

/** Selects those of the matching requests for which the fault fires, by their number, by chance and by time. */
export interface When {
  /** Number of matching requests for which the fault does not fire at first. Default: 0. */
  readonly skip?: number;
  /** Maximum number of requests for which the fault fires; unlimited if absent. */
  readonly times?: number;
  /**
   * Interval: the fault fires for every n-th matching request after the skipped ones. Default: 1, which is every
   * request.
   */
  readonly every?: number;
  /**
   * Probability, greater than 0 and at most 1, with which the fault fires for a matching request. The result for the
   * n-th request of a counter depends only on the seed, so that a test run can be repeated.
   */
  readonly chance?: number;
  /**
   * Values of a request by which matching requests are counted separately, such as the repository. Default: one counter
   * for all requests.
   */
  readonly by?: readonly ('rule' | 'token' | 'repo' | 'op' | 'connection')[];
  /**
   * Period in which the fault fires: ISO 8601 times, or durations since the fault was added, on the clock of the
   * emulated service.
   */
  readonly from?: string;
  readonly until?: string;
}

/**
 * Action under a name that JSON used until version 0.1. Still accepted from clients. Responses show the action with its
 * current name.
 */
export type FormerAction =
  | { readonly unknownCode: KindValues['code'] }
  | { readonly report: KindValues['ng'] }
  | { readonly lostResponse: KindValues['lost'] }
  | { readonly corrupt: { readonly dropObject: number } };

export type GivenAction = Action | FormerAction;

/** Fault as a client sends it to the emulator. Its actions may have the names that were used until version 0.1. */
export interface GivenFault extends Omit<Fault, 'do' | 'sequence'> {
  readonly do?: GivenAction | readonly GivenAction[];
  readonly sequence?: readonly (GivenAction | 'pass')[];
}
