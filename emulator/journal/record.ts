import type { OutgoingHttpHeaders } from 'node:http';
import type { GitFacts } from '../smart-http/git-facts.js';
import type { CapturedBody } from './captured-body.js';
import { type KeptHead, NO_HEAD } from './redaction.js';
import type { SentToken } from './sent-token.js';
import type { StepId } from './steps.js';

/**
 * State of a response. `open` means that it is being sent, and `complete` that it was sent completely. `cut` means that
 * the emulator aborted it, and `gone` that the client disconnected before its end.
 */
export type Outcome = 'open' | 'complete' | 'cut' | 'gone';

/**
 * Form in which the journal stores a request. It refers to objects that exist for the response anyway. Most requests
 * are never read, so a record is converted to a `JournalEntry` only when it is read.
 *
 * A record shows no secrets. The request header is stored without them. Bodies are redacted when the response ends, and
 * are not shown before. @internal
 */
export interface RequestRecord {
  readonly id: string;
  /**
   * Milliseconds on the emulator's clock. `time` is when the response was decided. `took` is the time from the start of
   * the request to that decision.
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
  /** Response header. Undefined for a plain JSON response, whose header `entry.ts` computes. */
  responseHeaders: OutgoingHttpHeaders | undefined;
  /** Response body. A text sent in one piece is stored as a string. */
  response: string | CapturedBody | undefined;
  outcome: Outcome;
  /**
   * Real time. `started` is the start of the request, in milliseconds since the process started. `micros` is the time
   * from that start to the end of the response, in microseconds.
   */
  readonly started: number;
  micros: number;
  /**
   * Time from the decision about the response to its end, in milliseconds on the emulator's clock; 0 before the end.
   */
  sendTime: number;
  /**
   * Positions in two orders: `sequence` among the decided responses, `ended` among the ended responses. Both start at
   * 1; 0 means that this has not happened yet.
   */
  sequence: number;
  ended: number;
  /**
   * Id of the earlier request that this request repeats. Undefined if absent, or if `Journal` has not computed
   * it yet.
   */
  retryOf: string | undefined;
}

/** Facts for a new record. Facts that every request has are required; all others are optional. @internal */
export type KnownFacts = Pick<RequestRecord, 'id' | 'time' | 'origin' | 'faults' | 'why'> & Partial<RequestRecord>;

/**
 * Returns a record with the given facts, and defaults for all others. Called for each request. The members are listed
 * one by one, because `{ ...defaults, ...known }` is four times slower (measured: 0.6 µs). @internal
 */
export function recordWith({
  id,
  time,
  origin,
  faults,
  why,
  took = 0,
  organization,
  method = '',
  path = '',
  query = '',
  version = '1.1',
  operation,
  token,
  status = 0,
  code,
  stopped,
  git,
  head = NO_HEAD,
  weight = 0,
  body,
  responseHeaders,
  response,
  outcome = 'open',
  started = performance.now(),
  micros = 0,
  sendTime = 0,
  sequence = 0,
  ended = 0,
  retryOf,
}: KnownFacts): RequestRecord {
  return {
    id,
    time,
    took,
    organization,
    method,
    path,
    query,
    version,
    operation,
    token,
    status,
    code,
    origin,
    faults,
    why,
    stopped,
    git,
    head,
    weight,
    body,
    responseHeaders,
    response,
    outcome,
    started,
    micros,
    sendTime,
    sequence,
    ended,
    retryOf,
  };
}

/**
 * Returns the real time at which the response ended, in milliseconds since the process started. Returns Infinity before
 * the end.
 */
export function endOf({ started, micros, ended }: RequestRecord): number {
  return ended === 0 ? Number.POSITIVE_INFINITY : started + micros / 1000;
}

/** Minimum time in milliseconds that a client needs between reading a response and sending its next request. */
const MIN_REACTION_TIME = 0.1;

/**
 * Returns true if the later request began after the response to the earlier one had ended. Returns false if both were
 * concurrent.
 */
export function beganAfterEnd(later: RequestRecord, earlier: RequestRecord): boolean {
  return later.started - endOf(earlier) >= MIN_REACTION_TIME;
}
