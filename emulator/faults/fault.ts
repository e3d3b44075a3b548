import type { Action, KindValues } from './kinds/index.js';
import type { Stage } from './stage.js';

export type { Action } from './kinds/index.js';

/**
 * Injected fault in its JSON form: an error, delay or defect that the emulator causes on purpose. It says which
 * requests it applies to (`match`), how often it fires (`when`), at which stage of a request (`at`), and what it does
 * (`do`).
 */
export interface Fault {
  /** Id of the fault. If absent, the emulator assigns one, such as `fault-1`. */
  readonly id?: string;
  readonly note?: string;
  /**
   * Priority among faults that match the same request; the highest is tried first. With equal priority, the fault that
   * was registered first is tried first.
   */
  readonly priority?: number;
  /**
   * False if the fault is disabled. A disabled fault affects no requests and counts none. It keeps its counters.
   * Default: true.
   */
  readonly enabled?: boolean;
  readonly match?: Match;
  readonly when?: When;
  /**
   * Stage of a request at which the fault fires. Default: the default stage of its action. This is usually `before`:
   * after all checks, before the operation has an effect. If the conditions in `match` are not known at that stage, the
   * default is the first later stage at which they are.
   */
  readonly at?: Stage;
  readonly do?: Action | readonly Action[];
  /**
   * Actions for consecutive matching requests, instead of `do`. The first request gets the first entry, the second
   * request the second entry, and so on. The entry `pass` does nothing. After the last entry, the fault no longer
   * fires.
   */
  readonly sequence?: readonly (Action | 'pass')[];
  /** Number of firings that `verify` (the check at the end of a test) requires. Default: at least 1. */
  readonly expect?: { readonly fired: number | { readonly min?: number; readonly max?: number } };
  /** Lifetime of the fault, as an ISO 8601 duration on the clock of the emulated service. The fault is then removed. */
  readonly ttl?: string;
}

/**
 * Condition on one value of a request. It is a text with the optional wildcards `*` and `?`, or an object whose members
 * must all match.
 */
export type Matcher =
  | string
  | {
      readonly equals?: unknown;
      readonly contains?: string;
      readonly glob?: string;
      /** Regular expression in RE2 syntax. It must match a part of the value; `^` and `$` anchor it. */
      readonly regex?: string;
      readonly present?: boolean;
    };

/** Facts about a Git request that are known before its body is read, because the URL and headers contain them. */
export interface GitHead {
  readonly service: 'upload-pack' | 'receive-pack';
  readonly phase: 'advertise' | 'rpc';
  readonly protocol: 0 | 1 | 2;
}

/** Conditions of a fault on a request, all of which must hold. Texts may contain the wildcards `*` and `?`. */
export interface Match {
  /** Ids or globs of operations, such as `commitPack` or `git*`. `emulator routes` lists all ids. */
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
    /**
     * Conditions on members of the JSON body. The names are JSON pointers (RFC 6901), such as `/author/name`, or
     * JSONPath queries (RFC 9535), such as `$.files[*].path`. In an NDJSON body, each condition must hold for at least
     * one line.
     */
    readonly body?: Readonly<Record<string, Matcher>>;
  };
  readonly git?: Partial<GitHead> & {
    readonly command?: 'ls-refs' | 'fetch' | 'object-info';
    /** Full name of a ref that the request pushes, fetches or changes: `refs/heads/main`. */
    readonly ref?: string;
    /** Path that a new commit of the request changes. The wildcards match any characters, also slashes. */
    readonly path?: string;
    /** Message of a new commit, without line feeds at its end. */
    readonly message?: string;
    /**
     * Conditions on the contents of files that a new commit adds or changes. The names are paths, and may contain
     * wildcards. A content that is not valid UTF-8 has U+FFFD in place of the invalid bytes.
     */
    readonly content?: Readonly<Record<string, Matcher>>;
  };
  /**
   * Id of the test scenario to which the request belongs. The client sends it in a header or in a claim of its token.
   */
  readonly scenario?: string;
}

/** Limits the requests for which a matching fault fires: by count, by chance and by time. */
export interface When {
  /** Number of matching requests to skip before the fault fires for the first time. Default: 0. */
  readonly skip?: number;
  /** Maximum number of requests for which the fault fires; unlimited if absent. */
  readonly times?: number;
  /**
   * Interval between firings: `3` means every third matching request, counted after the skipped ones. Default: 1 (every
   * request).
   */
  readonly every?: number;
  /**
   * Probability with which the fault fires for a matching request: greater than 0, at most 1. The result for the n-th
   * counted request depends only on the seed, so a test run can be repeated.
   */
  readonly chance?: number;
  /**
   * Counts matching requests separately for each combination of these values, such as per repository. Default: one
   * counter for all requests.
   */
  readonly by?: readonly ('rule' | 'token' | 'repo' | 'op' | 'connection')[];
  /**
   * Period in which the fault fires. Each limit is an ISO 8601 time, or a duration since the fault was added, on the
   * clock of the emulated service.
   */
  readonly from?: string;
  readonly until?: string;
}

/**
 * Action with the name that it had in JSON until version 0.1. Requests may still use it; responses contain the current
 * name.
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
