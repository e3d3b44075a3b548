import type { OutgoingHttpHeaders } from 'node:http';
import type { GitFacts } from '../smart-http/git-facts.js';
import type { CapturedBody } from './captured-body.js';
import { type KeptHead, NO_HEAD } from './redaction.js';
import type { SentToken } from './sent-token.js';
import type { StepId } from './steps.js';

/**
 * State of a response. `open`: being sent. `complete`: sent completely. `cut`: the emulator aborted the response.
 * `gone`: the client disconnected before the end.
 */
export type Outcome = 'open' | 'complete' | 'cut' | 'gone';

/**
 * Form in which the journal stores a request. It refers to objects that exist for the response anyway, and is converted
 * to a `JournalEntry` only when it is read, because most requests are never read. It contains no secrets: the request
 * header is stored without them, and secrets are removed from bodies when the response ends. Bodies are not shown
 * before. @internal
 */
export interface RequestRecord {
  readonly id: string;
  /**
   * Milliseconds on the emulator's clock. `time`: when the response was decided. `took`: time from the start of the
   * request until then.
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
   * Size of the record in bytes, including the request header. The sizes of the bodies are added when the response
   * ends.
   */
  weight: number;
  readonly body: CapturedBody | undefined;
  /** Response header; undefined for a plain JSON response, whose header `entry.ts` computes. */
  responseHeaders: OutgoingHttpHeaders | undefined;
  /** Response body. A text that was sent in one piece is stored as a string. */
  answer: string | CapturedBody | undefined;
  outcome: Outcome;
  /**
   * Real time. `started`: begin of the request, in milliseconds since the process started. `micros`: microseconds from
   * the start of the request to the end of the response.
   */
  readonly started: number;
  micros: number;
  /** Milliseconds on the emulator's clock from the decision about the response to its end; 0 before the end. */
  sendTime: number;
  /**
   * Position among the decided responses (`sequence`) and among the ended responses (`ended`). Both start at 1; 0
   * before the event.
   */
  sequence: number;
  ended: number;
  /** Id of the earlier request that this request repeats; undefined if none, and until `Journal` has computed it. */
  retryOf: string | undefined;
}

/** Facts for a new record. Those that every request has are required, all others are optional. @internal */
export type KnownFacts = Pick<RequestRecord, 'id' | 'time' | 'origin' | 'faults' | 'why'> & Partial<RequestRecord>;

/** Returns a record with default values for all facts that are not in `known`. @internal */
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
 * Returns the real time at which the response ended, in milliseconds since the process started; Infinity before the
 * end.
 */
export function endOf({ started, micros, ended }: RequestRecord): number {
  return ended === 0 ? Number.POSITIVE_INFINITY : started + micros / 1000;
}

/** Minimum time in milliseconds that a client needs to read a response and send another request. */
const MIN_REACTION_TIME = 0.1;

/**
 * Returns true if the later request began after the response to the earlier one had ended. Returns false if the two
 * were concurrent.
 */
export function beganAfterEnd(later: RequestRecord, earlier: RequestRecord): boolean {
  return later.started - endOf(earlier) >= MIN_REACTION_TIME;
}
