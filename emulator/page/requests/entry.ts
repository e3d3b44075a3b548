import type { JournalEntry } from '@emulator/admin/requests.js';

/**
 * Request with its response, as `GET requests/{id}` of the admin API returns it from the journal (list of past
 * requests). A member is absent if its value is unknown.
 */
export type Entry = JournalEntry;
export type SentToken = NonNullable<Entry['token']>;
export type Message = Entry['request'];
export type Body = NonNullable<Message['body']>;
export type GitFacts = NonNullable<Entry['git']>;

/**
 * Values that one row of the request list shows. Headers and bodies are omitted, because the page keeps thousands of
 * rows in memory.
 */
export type Row = ReturnType<typeof rowOf>;

/** Maximum number of UTF-16 code units of each text in a row of the request list. Longer texts are shortened. */
const LONGEST = 300;

/**
 * Returns true if a text in a row of the request list is complete. Only a complete text can be used as a filter value.
 */
export function isWhole(text: string): boolean {
  return text.length <= LONGEST;
}

export function rowOf({ path, query, git, request, answer: response, ...entry }: Entry) {
  const { id, at, method, operation, status, code, origin, outcome, duration, retryOf } = entry;
  return {
    id,
    at,
    method,
    operation,
    status,
    code,
    origin,
    outcome,
    duration,
    retryOf,
    /** Path and query of the request, shortened to at most `LONGEST` characters, because the list shows one line. */
    target: shortened(query === '' ? path : `${path}?${query}`),
    repository: entry.repository && shortened(entry.repository),
    subject: entry.subject && shortened(entry.subject),
    /** Git command that sent the request, such as `fetch` or `push`; undefined if the request is not from Git. */
    command: git?.command,
    sent: request.bytes,
    received: response.bytes,
  };
}

/**
 * Shortens a text to the maximum length of a text in a row. The result is copied by JSON, because V8 implements a
 * substring as a reference to the original string, which would stay in memory as long as the row.
 */
function shortened(text: string): string {
  return isWhole(text) ? text : (JSON.parse(JSON.stringify(`${text.slice(0, LONGEST)}…`)) as string);
}

/**
 * Returns true if the texts that a row of the request list shows contain all words of `text`, ignoring case. This is
 * the part of the filter that the page applies itself.
 */
export function holdsText(row: Row, text: string): boolean {
  const { id, method, target, operation, command, repository, subject, status, code, origin } = row;
  const shown = [id, method, target, operation, command, repository, subject, status, code, origin].join('\n');
  const searched = shown.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
}
