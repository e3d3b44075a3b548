import type { OutgoingHttpHeaders } from 'node:http';
import type { GitFacts } from '../smart-http/git-facts.js';
import type { CapturedBody } from './captured-body.js';
import { type KeptHead, NO_HEAD } from './redaction.js';
import type { SentToken } from './sent-token.js';
import type { StepId } from './steps.js';

/**
 * How an answer ended. `open`: it is on its way. `complete`: it has left, down to its last byte. `cut`: the emulator
 * broke it off. `gone`: the client had left before.
 */
export type Outcome = 'open' | 'complete' | 'cut' | 'gone';

/**
 * A request as it is kept: references to what was made to answer it. It is written out as a `JournalEntry` when it is
 * read, which for most requests is never. Secrets are not in it: the head of the request comes without them, and bodies
 * lose theirs when the answer has ended, before which they are not shown.
 * @internal
 */
export interface RequestRecord {
  readonly id: string;
  /** Milliseconds on the world's clock when its answer was decided, and since it began. */
  readonly time: number;
  readonly took: number;
  readonly organization: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** `1.1` */
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
  /** What it takes with its head, in bytes; bodies are added when the answer has ended. */
  weight: number;
  readonly body: CapturedBody | undefined;
  /** Undefined for that of plain JSON, which is written out as it was made. */
  answerHead: OutgoingHttpHeaders | undefined;
  /** A text that was sent at once is kept as it is. */
  answer: string | CapturedBody | undefined;
  outcome: Outcome;
  /** Real time: when the request began, in milliseconds since the process did, and how long it took to its end, in microseconds. */
  readonly started: number;
  micros: number;
  /** Milliseconds on the world's clock from the decision to the end of the response; 0 before the end. */
  sendTime: number;
  /** Its place among the answers that were decided, and among those that have ended; from 1, and 0 before. */
  sequence: number;
  ended: number;
  /** The id of the request that it repeats; undefined if none, and until somebody has asked. */
  retryOf: string | undefined;
}

/** What has to be known of a request to record it, and what may be. @internal */
export type KnownFacts = Pick<RequestRecord, 'id' | 'time' | 'origin' | 'faults' | 'why'> & Partial<RequestRecord>;

/** Returns a record of which only `known` is known. @internal */
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
    answerHead: undefined,
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

/** Real time at which the response had ended, in milliseconds since the process began; Infinity before its end. */
export function endOf({ started, micros, ended }: RequestRecord): number {
  return ended === 0 ? Number.POSITIVE_INFINITY : started + micros / 1000;
}

/** Milliseconds in which no client reads a response and sends a request. What was sent before may be read by then. */
const REACTION = 0.1;

/** Returns true if a request began after the response to an earlier one had ended; false if the two were concurrent. */
export function isBehind(later: RequestRecord, earlier: RequestRecord): boolean {
  return later.started - endOf(earlier) >= REACTION;
}
