import type { JournalEntry } from '@emulator/admin/requests.js';

/** Request with its response, as `GET requests/{id}` returns it from the journal. An absent member is unknown. */
export type Entry = JournalEntry;
export type SentToken = NonNullable<Entry['token']>;
export type Message = Entry['request'];
export type Body = NonNullable<Message['body']>;
export type GitFacts = NonNullable<Entry['git']>;

/** Data of a request that a row of the list shows, without headers and bodies. */
export type Row = ReturnType<typeof rowOf>;

/** Maximum number of characters of each text in a row of the request list. */
const LONGEST = 300;

/** Returns true if a text in a row of the request list was not shortened. */
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
    /** Path and query of the request, shortened. */
    target: shortened(query === '' ? path : `${path}?${query}`),
    repository: entry.repository && shortened(entry.repository),
    subject: entry.subject && shortened(entry.subject),
    /** Git command that sent the request: `fetch`, `push`, …; undefined if the request is not from Git. */
    command: git?.command,
    sent: request.bytes,
    received: response.bytes,
  };
}

/** Shortens a text, and copies the result by JSON, because V8 keeps the original in memory as long as a substring. */
function shortened(text: string): string {
  return isWhole(text) ? text : (JSON.parse(JSON.stringify(`${text.slice(0, LONGEST)}…`)) as string);
}

/** Returns true if the visible texts of a row contain all words of `text`, ignoring case. */
export function holdsText(row: Row, text: string): boolean {
  const { id, method, target, operation, command, repository, subject, status, code, origin } = row;
  const shown = [id, method, target, operation, command, repository, subject, status, code, origin].join('\n');
  const searched = shown.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
}
