import type { Action, KindValues } from './kinds/index.js';
import type { Stage } from './stage.js';

export type { Action } from './kinds/index.js';

/**
 * Injected fault, in its JSON form. It states which requests it applies to (`match`), how often it fires (`when`), at
 * which stage of a request (`at`), and what happens then (`do`).
 */
export interface Fault {
  /** Assigned by the registry if absent. */
  readonly id?: string;
  readonly note?: string;
  /** Faults with a higher priority are tried first; of equal ones, the one registered first. */
  readonly priority?: number;
  readonly match?: Match;
  readonly when?: When;
  /** Stage at which it fires. Default: the default stage of the action, usually `before`. */
  readonly at?: Stage;
  readonly do?: Action | readonly Action[];
  /**
   * Actions by request, in place of `do`: the first matching request gets the first entry, and so on. The fault does
   * not fire after the last one.
   */
  readonly sequence?: readonly (Action | 'pass')[];
  /** Number of firings that `verify` requires; default at least 1. */
  readonly expect?: { readonly fired: number | { readonly min?: number; readonly max?: number } };
  /** ISO 8601 duration on the world's clock after which the fault is removed. */
  readonly ttl?: string;
}

/** Condition on a text: the exact text, a glob (`*`, `?`), or one of these objects. */
export type Matcher =
  | string
  | { readonly equals?: unknown; readonly contains?: string; readonly glob?: string; readonly present?: boolean };

/** Facts from the URL and the headers of a Git request. */
export interface GitHead {
  readonly service: 'upload-pack' | 'receive-pack';
  readonly phase: 'advertise' | 'rpc';
  readonly protocol: 0 | 1 | 2;
}

/** Conditions on a request, all of which must hold. Globs support `*` and `?`. */
export interface Match {
  /** Operation ids as `emulator routes` prints them, or globs: `commitPack`, `git*`. */
  readonly op?: string | readonly string[];
  readonly org?: string;
  /** Decoded repository name. */
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
    /** Matchers by JSON pointer (RFC 6901). */
    readonly body?: Readonly<Record<string, Matcher>>;
  };
  readonly git?: Partial<GitHead> & {
    readonly command?: 'ls-refs' | 'fetch' | 'object-info';
    readonly ref?: string;
  };
  /** Scenario id that the client sends in a header or a claim. */
  readonly scenario?: string;
}

/** Selects the matching requests for which the fault fires. */
export interface When {
  /** Number of matching requests to skip first. */
  readonly skip?: number;
  /** Maximum number of requests for which it fires; unlimited if absent. */
  readonly times?: number;
  /** Fires for every n-th matching request; 1 is every request. */
  readonly every?: number;
  /** Probability from 0 to 1. The result for the n-th request of a counter depends only on the seed. */
  readonly chance?: number;
  /** Values by which requests are counted separately, such as the repository. Default: one counter for all requests. */
  readonly by?: readonly ('rule' | 'token' | 'repo' | 'op' | 'connection')[];
  /** ISO 8601 times, or durations since the fault was added, on the world's clock. */
  readonly from?: string;
  readonly until?: string;
}

/** Action with a name that the JSON form used until version 0.1. Still accepted, and shown with its current name. */
export type FormerAction =
  | { readonly unknownCode: KindValues['code'] }
  | { readonly report: KindValues['ng'] }
  | { readonly lostResponse: KindValues['lost'] }
  | { readonly corrupt: { readonly dropObject: number } };

export type GivenAction = Action | FormerAction;

/** Fault as a client sends it, which may use former names. */
export interface GivenFault extends Omit<Fault, 'do' | 'sequence'> {
  readonly do?: GivenAction | readonly GivenAction[];
  readonly sequence?: readonly (GivenAction | 'pass')[];
}
