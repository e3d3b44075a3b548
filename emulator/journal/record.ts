import type { OutgoingHttpHeaders } from 'node:http';
import type { GitFacts } from '../smart-http/git-facts.js';
import type { CapturedBody } from './captured-body.js';
import { type KeptHead, NO_HEAD } from './redaction.js';
import type { SentToken } from './sent-token.js';
import type { StepId } from './steps.js';

/**
 * State of a response.
 *
 * - `open`: still being sent
 * - `complete`: sent completely
 * - `cut`: ended early by the emulator
 * - `gone`: ended early, because the client disconnected
 */
export type Outcome = 'open' | 'complete' | 'cut' | 'gone';

/**
 * Form in which the journal stores a request. Refers to objects that exist for the response anyway; most requests are
 * never read, so it is converted to a `JournalEntry` only on reading.
 *
 * Contains no secrets: the request header is stored without them, and they are removed from bodies when the response
 * ends. Bodies are not shown before that. @internal
 */
export interface RequestRecord {
  readonly id: string;
  /**
   * Times in milliseconds on the emulator's clock. `time` is when the response was decided. `took` is the time from the
   * start of the request until then.
   */
  readonly time: number;
  readonly took: number;
  readonly organization: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** HTTP version, such as `1.1`. */
  readonly version: string;
  readonly operation: string | undefined;
  readonly token: SentToken | undefined;
  readonly status: number;
  readonly code: string | undefined;
  readonly origin: string;
  readonly faults: readonly string[];
  readonly why: readonly string[];
  readonly stopped: StepId | undefined;
  readonly git: GitFacts | undefined;
  readonly head: KeptHead;
  /**
   * Size of the record in bytes. Includes the request header; the sizes of the bodies are added when the response ends.
   */
  weight: number;
  readonly body: CapturedBody | undefined;
  /** Response header. Undefined for a plain JSON response, because `entry.ts` can compute its header. */
  responseHeaders: OutgoingHttpHeaders | undefined;
  /** Response body. It is a string if a text was sent in one piece. */
  answer: string | CapturedBody | undefined;
  outcome: Outcome;
  /**
   * Real times. `started` is when the request began, in milliseconds since the process started. `micros` is the time
   * from then to the end of the response, in microseconds.
   */
  readonly started: number;
  micros: number;
  /** Milliseconds on the emulator's clock from the decision on the response to its end; 0 until the response ends. */
  sendTime: number;
  /**
   * Position among the decided responses (`sequence`) and among the ended responses (`ended`). Positions start at 1. 0
   * means not decided or not ended yet.
   */
  sequence: number;
  ended: number;
  /**
   * Id of the earlier request that this request repeats. Undefined if there is none, or if `Journal` has not computed
   * it yet.
   */
  retryOf: string | undefined;
}

/** Facts for a new record. Only those that every request has are required. @internal */
export type KnownFacts = Pick<RequestRecord, 'id' | 'time' | 'origin' | 'faults' | 'why'> & Partial<RequestRecord>;

/** Returns a record with the given facts, and defaults for all others. @internal */
export function recordWith(known: KnownFacts): RequestRecord {
  return {
    took: 0,
    organization: undefined,
    method: '',
    path: '',
    query: '',
    version: '1.1',
    operation: undefined,
    status: 0,
    code: undefined,
    token: undefined,
    stopped: undefined,
    git: undefined,
    head: NO_HEAD,
    weight: 0,
    body: undefined,
    responseHeaders: undefined,
    answer: undefined,
    outcome: 'open',
    started: performance.now(),
    micros: 0,
    sendTime: 0,
    sequence: 0,
    ended: 0,
    retryOf: undefined,
    ...known,
  };
}

/**
 * Returns the time at which the response ended, in milliseconds of real time since the process started. Returns
 * Infinity if it has not ended.
 */
export function endOf({ started, micros, ended }: RequestRecord): number {
  return ended === 0 ? Number.POSITIVE_INFINITY : started + micros / 1000;
}

/** Minimum time in milliseconds that a client needs between reading a response and sending its next request. */
const MIN_REACTION_TIME = 0.1;

/**
 * Returns true if the later request began after the earlier one's response had ended. Returns false if they were
 * concurrent.
 */
export function beganAfterEnd(later: RequestRecord, earlier: RequestRecord): boolean {
  return later.started - endOf(earlier) >= MIN_REACTION_TIME;
}
