import type { ProblemCode } from '../http/problem.js';
import type { Stage } from './stage.js';

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
  readonly git?: {
    readonly service?: 'upload-pack' | 'receive-pack';
    readonly phase?: 'advertise' | 'rpc';
    readonly protocol?: 0 | 1 | 2;
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

/**
 * How an answer that is cut ends: the connection is closed in order, or reset; nothing more is sent, and the connection
 * stays; or valid HTTP, with a payload that is too short.
 */
export type Ending = 'fin' | 'rst' | 'stall' | 'end';

/** Seconds; an HTTP date of now and a second; no header at all; or a value that cannot be read. */
export type RetryAfter = number | 'http-date' | 'omit' | 'garbage';

export type Action =
  /** The code in the operation's own status and dialect. */
  | {
      readonly error: {
        readonly code: ProblemCode;
        readonly detail?: string;
        readonly retryAfter?: RetryAfter;
        readonly t?: number;
      };
    }
  /** A code that the specification does not know. */
  | { readonly unknownCode: { readonly status: number; readonly code: string; readonly retryAfter?: RetryAfter } }
  | {
      readonly raw: {
        readonly status: number;
        readonly headers?: Readonly<Record<string, string>>;
        readonly bodyBase64?: string;
      };
    }
  /** Milliseconds of real time. */
  | { readonly latency: { readonly ms: number } }
  /** Bytes a second, from the stage on. */
  | { readonly throttle: { readonly bps: number } }
  /** Until `POST /_emulator/faults/latches/{name}/release` or its counterpart. */
  | { readonly hold: string }
  | { readonly cut: { readonly at?: CutPoint; readonly how?: Ending } }
  | { readonly corrupt: { readonly flip?: number; readonly dropObject?: number } }
  | { readonly sideband: { readonly band: 2 | 3; readonly text: string } }
  /** So many lines of progress. */
  | { readonly flood: { readonly lines?: number; readonly text?: string } }
  | { readonly report: { readonly unpack?: string; readonly refs?: Readonly<Record<string, string>> } }
  | { readonly lostResponse: 'fin' | 'rst' | { readonly status: number } };

/** Offsets count payload after pkt-line and side-band framing. Exactly one member. */
export interface CutPoint {
  readonly bytes?: number;
  /** 0 to 1 of the whole payload. */
  readonly fraction?: number;
  readonly objects?: number;
  readonly beforeTrailer?: true;
}
