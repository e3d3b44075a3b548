import type { JournalEntry } from '@emulator/admin/requests.js';

/** Request as recorded in the journal: `GET requests/{id}`. Absent members are unknown. */
export type Entry = JournalEntry;
export type SentToken = NonNullable<Entry['token']>;
export type Message = Entry['request'];
export type Body = NonNullable<Message['body']>;
export type GitFacts = NonNullable<Entry['git']>;

/** Data of a row in the list, without headers and bodies. */
export type Row = ReturnType<typeof rowOf>;

/** Maximum characters of a text in a row. */
const LONGEST = 300;

/** Returns true if the text of a row was not shortened. */
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
    /** Path and query. */
    target: shortened(query === '' ? path : `${path}?${query}`),
    repository: entry.repository && shortened(entry.repository),
    subject: entry.subject && shortened(entry.subject),
    /** Git command: `fetch`, `push`, … */
    command: git?.command,
    sent: request.bytes,
    received: response.bytes,
  };
}

/** Shortens a text and copies it, because a substring would keep the whole original in memory. */
function shortened(text: string): string {
  return isWhole(text) ? text : (JSON.parse(JSON.stringify(`${text.slice(0, LONGEST)}…`)) as string);
}

/** Returns true if a row contains all words of a text. */
export function holdsText(row: Row, text: string): boolean {
  const { id, method, target, operation, command, repository, subject, status, code, origin } = row;
  const shown = [id, method, target, operation, command, repository, subject, status, code, origin].join('\n');
  const searched = shown.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
}
