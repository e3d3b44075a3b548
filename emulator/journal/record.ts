import type { OutgoingHttpHeaders } from 'node:http';
import type { GitFacts } from '../smart-http/git-facts.js';
import type { CapturedBody } from './captured-body.js';
import type { KeptHead } from './redaction.js';
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
  /** Changes when a fault touches the answer on its way. */
  origin: string;
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
  /** Real time: when the request began, in whole milliseconds since the process did, and how long it took, in microseconds. */
  readonly started: number;
  micros: number;
  /** Its place among the answers that were decided, and among those that have ended; from 1, and 0 before. */
  sequence: number;
  ended: number;
}
