import type { JournalEntry } from '@emulator/admin/requests.js';

/**
 * Request with its response. `GET requests/{id}` of the admin API returns it from the journal (list of past requests).
 * Members with unknown values are absent.
 */
export type Entry = JournalEntry;
export type SentToken = NonNullable<Entry['token']>;
export type Message = Entry['request'];
export type Body = NonNullable<Message['body']>;
export type GitFacts = NonNullable<Entry['git']>;

/**
 * Values that one row of the request list shows. It contains no headers and bodies, because the page keeps thousands of
 * rows in memory.
 */
export type Row = ReturnType<typeof rowOf>;

/** Maximum number of UTF-16 code units of each text in a row of the request list. Longer texts are shortened. */
const LONGEST = 300;

/**
 * Returns true if a text in a row of the request list is not shortened. Only such a text can be used as a filter value.
 */
export function isWhole(text: string): boolean {
  return text.length <= LONGEST;
}

export function rowOf({ path, query, git, request, answer: response, ...entry }: Entry) {
  const { id, at, method, operation, status, code, origin, outcome, started, duration, retryOf } = entry;
  return {
    id,
    at,
    method,
    operation,
    status,
    code,
    origin,
    outcome,
    /** Start of the request in real time, in milliseconds since the emulator was started. */
    started,
    duration,
    /** Start of the request on the emulator's clock, in milliseconds since 1970. */
    began: Date.parse(entry.began),
    retryOf,
    /**
     * Path and query of the request. They are shortened to at most `LONGEST` characters, because the list shows only
     * one line.
     */
    target: shortened(query === '' ? path : `${path}?${query}`),
    repository: entry.repository && shortened(entry.repository),
    subject: entry.subject && shortened(entry.subject),
    /** Claim `sub` of the token, verified or not. `subject` is the claim of a verified token. */
    sender: entry.token?.subject && shortened(entry.token.subject),
    userAgent: shortenedAgent(request),
    /** Git command that sent the request, such as `fetch` or `push`; undefined if Git did not send it. */
    command: git?.command,
    sent: request.bytes,
    received: response.bytes,
  };
}

/** Returns the value of the field `User-Agent` of a request; undefined if absent. */
export function userAgentOf({ headers }: Message): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === 'user-agent')?.[1];
}

function shortenedAgent(request: Message): string | undefined {
  const userAgent = userAgentOf(request);
  return userAgent && shortened(userAgent);
}

/**
 * Shortens a text to the maximum length of a text in a row. The result is copied by way of JSON. Without the copy, V8
 * would store it as a reference to the original string, which would stay in memory as long as the row.
 */
function shortened(text: string): string {
  return isWhole(text) ? text : (JSON.parse(JSON.stringify(`${text.slice(0, LONGEST)}…`)) as string);
}

/**
 * Returns true if the texts of a row in the request list contain all words of `text`, ignoring case. The page itself
 * applies this part of the filter.
 */
export function holdsText(row: Row, text: string): boolean {
  const { id, method, target, operation, command, repository, subject, userAgent, status, code, origin } = row;
  const shown = [id, method, target, operation, command, repository, subject, userAgent, status, code, origin];
  const searched = shown.join('\n').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
}
