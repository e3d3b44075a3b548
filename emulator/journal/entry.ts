import type { OutgoingHttpHeaders } from 'node:http';
import { copyGitFacts, type GitFacts } from '../smart-http/git-facts.js';
import { CapturedBody, MAX_BODY_BYTES } from './captured-body.js';
import type { Outcome, RequestRecord } from './record.js';
import { REDACTED, redactText } from './redaction.js';
import type { SentToken } from './sent-token.js';
import type { StepId } from './steps.js';

/** The beginning of a body, at most 64 KiB of it. */
export interface ShownBody {
  readonly text: string;
  /** `base64` for what is not UTF-8. */
  readonly encoding: 'utf8' | 'base64';
  /** Whether there was more of it. */
  readonly truncated: boolean;
}

/** One side of an exchange, without its secrets: in place of them stands `[redacted]`. */
export interface ShownMessage {
  /** Name and value, in the order in which they were sent. Of an answer, without the fields that Node adds by itself. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Absent where there is none, and until the answer has ended. */
  readonly body?: ShownBody;
  /** Bytes of the body that were read or sent. */
  readonly bytes: number;
}

/** What of a request has no header, no body and no token: the line of the log. */
export interface RequestSummary {
  readonly id: string;
  /** ISO 8601: when its answer was decided. */
  readonly at: string;
  readonly organization: string | undefined;
  readonly method: string;
  /** The request target without its query. */
  readonly path: string;
  readonly operation: string | undefined;
  /** The `repo` claim of the token. */
  readonly repository: string | undefined;
  /** The `sub` claim of the token. */
  readonly subject: string | undefined;
  readonly status: number;
  readonly code: string | undefined;
  /** `real`: the service as it is. `state`: a state refused. `injected:<fault>`: asked for. */
  readonly origin: string;
  /** Why: one short sentence per decision worth knowing. */
  readonly why: readonly string[];
}

/** What happened to one request. Times are the world's; only `duration` is real. */
export interface JournalEntry extends RequestSummary {
  /** ISO 8601: when the request began. */
  readonly began: string;
  /** The query as it was sent, without `?`. */
  readonly query: string;
  /** The faults that touched it. */
  readonly faults: readonly string[];
  /** The step of its way that refused it; absent where the operation answered. */
  readonly stopped?: StepId;
  readonly outcome: Outcome;
  /** The id of the request that this one repeats: see `lineage.ts`. */
  readonly retryOf?: string;
  readonly token?: SentToken;
  /** What a request of Git was about. */
  readonly git?: GitFacts;
  /** Whether a token or a password was in the target. */
  readonly secretInTarget?: true;
  readonly httpVersion: string;
  readonly request: ShownMessage;
  readonly answer: ShownMessage;
  /** Milliseconds of real time until the answer had ended; 0 before. It is left out when runs are compared. */
  readonly duration: number;
}

/** What a token that was proven says of its bearer. @internal */
export function bearerOf({ token }: RequestRecord): Pick<SentToken, 'repository' | 'subject'> {
  return token?.verified ? token : {};
}

/** @internal */
export function summaryOf(record: RequestRecord): RequestSummary {
  const { id, time, organization, method, path, operation, status, code, origin, why } = record;
  const { repository, subject } = bearerOf(record);
  const at = new Date(time).toISOString();
  return { id, at, organization, method, path, operation, repository, subject, status, code, origin, why };
}

export interface EntryOptions {
  /** False: bodies are left out, as in lists. Default: true. */
  readonly bodies?: boolean | undefined;
}

/** A record written out: a copy, which later requests do not change. @internal */
export function writeEntry(
  record: RequestRecord,
  retryOf: string | undefined,
  { bodies = true }: EntryOptions = {},
): JournalEntry {
  const { git, token, body, answer: response } = record;
  const { id, at, organization, method, path, operation, repository, subject, status, code, origin } =
    summaryOf(record);
  const asked = bodies ? shownRequestBody(record) : undefined;
  const answered = bodies ? shownResponseBody(record) : undefined;
  const answerBytes = typeof response === 'string' ? Buffer.byteLength(response) : (response?.bytes ?? 0);
  return {
    id,
    began: new Date(record.time - record.took).toISOString(),
    at,
    organization,
    method,
    path,
    query: record.query,
    operation,
    repository,
    subject,
    status,
    code,
    origin,
    faults: [...record.faults],
    why: [...record.why],
    ...(record.stopped !== undefined && { stopped: record.stopped }),
    outcome: record.outcome,
    ...(retryOf !== undefined && { retryOf }),
    ...(token && { token: { ...token } }),
    ...(git && { git: copyGitFacts(git) }),
    ...(`${path}?${record.query}`.includes(REDACTED) && { secretInTarget: true }),
    httpVersion: record.version,
    request: {
      headers: pairs(record.head.fields),
      ...(asked && { body: asked }),
      bytes: body?.bytes ?? 0,
    },
    answer: {
      headers: Object.entries(record.answerHead ?? plainHead(record, answerBytes)).flatMap(fieldsOf),
      ...(answered && { body: answered }),
      bytes: method === 'HEAD' ? 0 : answerBytes,
    },
    duration: record.micros / 1000,
  };
}

/** What is shown of the body of a request: undefined where there is none, and until the answer has ended. @internal */
export function shownRequestBody({ body, ended }: RequestRecord): ShownBody | undefined {
  return ended > 0 && body && body.bytes > 0 ? showBytes(body) : undefined;
}

/** As `shownRequestBody`, of the answer. @internal */
export function shownResponseBody({ answer: response, ended, method }: RequestRecord): ShownBody | undefined {
  if (ended === 0 || response === undefined || method === 'HEAD') return undefined;
  if (typeof response !== 'string') return response.bytes > 0 ? showBytes(response) : undefined;
  if (response === '') return undefined;
  const captured = new CapturedBody();
  captured.add(response);
  return showBytes(captured);
}

function pairs(fields: readonly string[]): [string, string][] {
  return Array.from({ length: fields.length / 2 }, (_, at) => [fields[2 * at]!, fields[2 * at + 1]!]);
}

function fieldsOf([name, value]: [string, OutgoingHttpHeaders[string]]): [string, string][] {
  return [value].flat().map((one) => [name, name === 'set-cookie' ? REDACTED : redactText(String(one))]);
}

/** Of an answer that is JSON, and has no field of its own. */
function plainHead({ id }: RequestRecord, bytes: number): OutgoingHttpHeaders {
  return { 'content-type': 'application/json', 'content-length': bytes, 'x-request-id': id };
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function showBytes(body: CapturedBody): ShownBody {
  const content = body.content();
  const truncated = !body.isWhole;
  try {
    // A character that the end of the beginning cuts in two is left out.
    const text = UTF8.decode(truncated ? content.subarray(0, wholeCharacters(content)) : content);
    return { text: redactText(text), encoding: 'utf8', truncated };
  } catch {
    return { text: content.toString('base64'), encoding: 'base64', truncated };
  }
}

/** RFC 3629, 3: bytes behind the first of a character are 10xxxxxx. */
function wholeCharacters(content: Buffer): number {
  let end = Math.min(content.length, MAX_BODY_BYTES);
  for (let back = 0; back < 4 && end > 0; back++) {
    const byte = content[end - 1]!;
    if (byte < 0x80) return end;
    end--;
    if (byte >= 0xc0) return end;
  }
  return end;
}
