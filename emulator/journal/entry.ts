import type { OutgoingHttpHeaders } from 'node:http';
import { copyGitFacts, type GitFacts } from '../smart-http/git-facts.js';
import { isoTime } from '../time/iso-8601.js';
import { CapturedBody } from './captured-body.js';
import type { Outcome, RequestRecord } from './record.js';
import { REDACTED, redactText } from './redaction.js';
import { fieldOf } from './retry-index.js';
import type { SentToken } from './sent-token.js';
import type { StepId } from './steps.js';

/** Beginning of a request or response body as the journal shows it, at most 64 KiB. */
export interface ShownBody {
  readonly text: string;
  /** Encoding of `text`: `base64` if the body is not valid UTF-8. */
  readonly encoding: 'utf8' | 'base64';
  /** True if the body is longer than `text`. */
  readonly truncated: boolean;
}

/** Header and body of a recorded request or response. Secrets are replaced by `[redacted]`. */
export interface ShownMessage {
  /**
   * Name and value of each header field, in the order of transmission. Fields that Node adds to responses are missing.
   */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Body of the message. Absent if the body is empty or the response has not ended. */
  readonly body?: ShownBody;
  /** Length in bytes of the whole body, as read or sent. */
  readonly bytes: number;
}

/** Short form of a request for lists and for the log, without headers, bodies and token. */
export interface RequestSummary {
  readonly id: string;
  /** Time at which the service had decided on the response (ISO 8601). */
  readonly at: string;
  readonly organization: string | undefined;
  readonly method: string;
  /** Request target without the query. */
  readonly path: string;
  readonly operation: string | undefined;
  /** Claim `repo` of the verified token; undefined if absent. */
  readonly repository: string | undefined;
  /** Claim `sub` of the verified token; undefined if absent. */
  readonly subject: string | undefined;
  readonly status: number;
  readonly code: string | undefined;
  /**
   * Cause of the response. `real` is the service itself, `state` is a simulated state of the service that refused the
   * request, and `injected:<fault>` is an injected fault.
   */
  readonly origin: string;
  /** Reasons for the response, one short sentence per decision. */
  readonly why: readonly string[];
}

/**
 * Journal entry of one request. Times are on the emulator's clock, which tests can stop and advance. Only `started` and
 * `duration` are in real time.
 */
export interface JournalEntry extends RequestSummary {
  /** Time at which the request began (ISO 8601). */
  readonly began: string;
  /** Query exactly as sent, without `?`. */
  readonly query: string;
  /** Ids of the injected faults that affected the request. */
  readonly faults: readonly string[];
  /** Processing step that refused the request. Absent if the operation itself responded. */
  readonly stopped?: StepId;
  readonly outcome: Outcome;
  /**
   * Id of the earlier request that this request repeats; absent if none. `retry-index.ts` defines what counts as a
   * repetition.
   */
  readonly retryOf?: string;
  readonly token?: SentToken;
  /** Facts about a Git request; absent for other requests. */
  readonly git?: GitFacts;
  /** True if the request target contains a token or a password; otherwise absent. */
  readonly secretInTarget?: true;
  readonly httpVersion: string;
  readonly request: ShownMessage;
  readonly answer: ShownMessage;
  /**
   * Start of the request in real time, in milliseconds since the emulator's process started. Ignored when two runs are
   * compared.
   */
  readonly started: number;
  /**
   * Time from the start of the request to the end of the response, in milliseconds of real time; 0 before the end.
   * Ignored when two runs are compared.
   */
  readonly duration: number;
}

/** Returns the repository and the subject of a verified token; an empty object otherwise. @internal */
export function bearerOf({ token }: RequestRecord): Pick<SentToken, 'repository' | 'subject'> {
  return token?.verified ? token : {};
}

/** Returns the value of the field `User-Agent` of a request; undefined if absent. @internal */
export function userAgentOf(record: RequestRecord): string | undefined {
  return fieldOf(record, 'user-agent');
}

/** @internal */
export function summaryOf(record: RequestRecord): RequestSummary {
  const { id, time, organization, method, path, operation, status, code, origin, why } = record;
  const { repository, subject } = bearerOf(record);
  const at = isoTime(time);
  return { id, at, organization, method, path, operation, repository, subject, status, code, origin, why };
}

export interface EntryOptions {
  /** False to omit bodies, for example in lists. Default: true. */
  readonly bodies?: boolean | undefined;
}

/** Converts a record to a journal entry. The entry is a copy that later changes do not affect. @internal */
export function writeEntry(
  record: RequestRecord,
  retryOf: string | undefined,
  { bodies = true }: EntryOptions = {},
): JournalEntry {
  const { git, token, body, response } = record;
  const { id, at, organization, method, path, operation, repository, subject, status, code, origin } =
    summaryOf(record);
  const requestBody = bodies ? shownRequestBody(record) : undefined;
  const responseBody = bodies ? shownResponseBody(record) : undefined;
  const responseBytes = typeof response === 'string' ? Buffer.byteLength(response) : (response?.bytes ?? 0);
  return {
    id,
    began: isoTime(record.time - record.took),
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
      ...(requestBody && { body: requestBody }),
      bytes: body?.bytes ?? 0,
    },
    answer: {
      headers: Object.entries(record.responseHeaders ?? plainHead(record, responseBytes)).flatMap(fieldsOf),
      ...(responseBody && { body: responseBody }),
      bytes: method === 'HEAD' ? 0 : responseBytes,
    },
    started: Math.round(record.started * 1000) / 1000,
    duration: record.micros / 1000,
  };
}

/** Returns the request body for display. Undefined if it is empty or the response has not ended. @internal */
export function shownRequestBody({ body, ended }: RequestRecord): ShownBody | undefined {
  return ended > 0 && body && body.bytes > 0 ? showBytes(body) : undefined;
}

/** Returns the response body for display. Undefined if it is empty or the response has not ended. @internal */
export function shownResponseBody({ response, ended, method }: RequestRecord): ShownBody | undefined {
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

/** Returns the header of a JSON response with only the standard fields. Such a header is computed instead of stored. */
function plainHead({ id }: RequestRecord, bytes: number): OutgoingHttpHeaders {
  return { 'content-type': 'application/json', 'content-length': bytes, 'x-request-id': id };
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function showBytes(body: CapturedBody): ShownBody {
  const content = body.content();
  const truncated = !body.isWhole;
  try {
    // Decodes only complete characters, because the truncation may have split the last one.
    const text = UTF8.decode(truncated ? content.subarray(0, wholeCharacterLength(content)) : content);
    return { text: redactText(text), encoding: 'utf8', truncated };
  } catch {
    return { text: content.toString('base64'), encoding: 'base64', truncated };
  }
}

/**
 * Returns the length of `content` in bytes, without an incomplete UTF-8 character at its end. All bytes of a character
 * except the first are 10xxxxxx in binary (RFC 3629, section 3).
 */
function wholeCharacterLength(content: Buffer): number {
  let end = content.length;
  for (let back = 0; back < 4 && end > 0; back++) {
    const byte = content[end - 1]!;
    if (byte < 0x80) return end;
    end--;
    if (byte >= 0xc0) return end;
  }
  return end;
}
