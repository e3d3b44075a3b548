import type { JournalEntry } from '@emulator/admin/requests.js';

/** A request as the journal shows it: `GET requests/{id}`. Members that are absent are unknown. */
export type Entry = JournalEntry;
export type SentToken = NonNullable<Entry['token']>;
export type Message = Entry['request'];
export type Body = NonNullable<Message['body']>;
export type GitFacts = NonNullable<Entry['git']>;

/** What a row of the list shows: neither headers nor bodies. */
export type Row = ReturnType<typeof rowOf>;

/** Characters of a text that a row keeps. */
const LONGEST = 300;

/** Whether a text of a row is all of it. */
export function isWhole(text: string): boolean {
  return text.length <= LONGEST;
}

export function rowOf({ path, query, git, request, answer, ...entry }: Entry) {
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
    /** `fetch`, `push`, … */
    command: git?.command,
    sent: request.bytes,
    received: answer.bytes,
  };
}

/** A copy: a part of a long text would hold on to the whole of it. */
function shortened(text: string): string {
  return isWhole(text) ? text : (JSON.parse(JSON.stringify(`${text.slice(0, LONGEST)}…`)) as string);
}

/** Whether all words of a text are in what a row shows. */
export function holdsText(row: Row, text: string): boolean {
  const { id, method, target, operation, command, repository, subject, status, code, origin } = row;
  const shown = [id, method, target, operation, command, repository, subject, status, code, origin].join('\n');
  const searched = shown.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
}
