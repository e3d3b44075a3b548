import type { Action, KindValues } from './kinds/index.js';
import type { Stage } from './stage.js';

export type { Action } from './kinds/index.js';

/** One fault as JSON has it: which requests it meets, when, where on their way, and what it does. */
export interface Fault {
  /** Given by the registry where it is left out. */
  readonly id?: string;
  readonly note?: string;
  /** Higher is asked first; of equals, the one that was registered first. */
  readonly priority?: number;
  readonly match?: Match;
  readonly when?: When;
  /** Default: the first stage that the action is made for, mostly `before`. */
  readonly at?: Stage;
  readonly do?: Action | readonly Action[];
  /** One entry per request that matches, then nothing more. In place of `do`. */
  readonly sequence?: readonly (Action | 'pass')[];
  /** What `verify` holds it to; without, that it fired at least once. */
  readonly expect?: { readonly fired: number | { readonly min?: number; readonly max?: number } };
  /** ISO 8601 duration on the world's clock after which it is gone. */
  readonly ttl?: string;
}

/** What a text has to be: the text itself, a glob (`*`, `?`), or one of these. */
export type Matcher =
  | string
  | { readonly equals?: unknown; readonly contains?: string; readonly glob?: string; readonly present?: boolean };

/** Facts from the head of a Git request. */
export interface GitHead {
  readonly service: 'upload-pack' | 'receive-pack';
  readonly phase: 'advertise' | 'rpc';
  readonly protocol: 0 | 1 | 2;
}

/** All that is given has to hold. Globs know `*` and `?`. */
export interface Match {
  /** Ids as `emulator routes` prints them: `commitPack`, `git*`. */
  readonly op?: string | readonly string[];
  readonly org?: string;
  /** The decoded name. */
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
    /** By JSON pointer (RFC 6901). */
    readonly body?: Readonly<Record<string, Matcher>>;
  };
  readonly git?: Partial<GitHead> & {
    readonly command?: 'ls-refs' | 'fetch' | 'object-info';
    readonly ref?: string;
  };
  /** The scenario id that the client sends. */
  readonly scenario?: string;
}

/** Which of the requests that match are met. */
export interface When {
  /** So many pass first. */
  readonly skip?: number;
  /** So many are met; without it all. */
  readonly times?: number;
  /** Every so manieth of them: 1 is each. */
  readonly every?: number;
  /** 0 to 1; the n-th request of a partition always gets the same verdict from the same seed. */
  readonly chance?: number;
  /** What has a counter of its own; without it, the fault. */
  readonly by?: readonly ('rule' | 'token' | 'repo' | 'op' | 'connection')[];
  /** ISO 8601 times, or durations since the fault was set, on the world's clock. */
  readonly from?: string;
  readonly until?: string;
}

/** A value of an action under a name that JSON had until version 0.1. Still read, and shown by its new name. */
export type FormerAction =
  | { readonly unknownCode: KindValues['code'] }
  | { readonly report: KindValues['ng'] }
  | { readonly lostResponse: KindValues['lost'] }
  | { readonly corrupt: { readonly dropObject: number } };

export type GivenAction = Action | FormerAction;

/** A fault as it is given in JSON. */
export interface GivenFault extends Omit<Fault, 'do' | 'sequence'> {
  readonly do?: GivenAction | readonly GivenAction[];
  readonly sequence?: readonly (GivenAction | 'pass')[];
}
