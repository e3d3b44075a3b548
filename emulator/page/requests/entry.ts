/** A request as the journal shows it: `GET requests/{id}`. Members that are absent are unknown. */
export interface Entry {
  readonly id: string;
  readonly began: string;
  readonly at: string;
  readonly organization?: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly operation?: string;
  readonly repository?: string;
  readonly subject?: string;
  readonly status: number;
  readonly code?: string;
  readonly origin: string;
  readonly faults: readonly string[];
  readonly why: readonly string[];
  /** The step of its way that refused it; absent where its operation answered. */
  readonly stopped?: string;
  readonly outcome: string;
  readonly retryOf?: string;
  readonly token?: SentToken;
  readonly git?: GitFacts;
  readonly secretInTarget?: true;
  readonly httpVersion: string;
  readonly request: Message;
  readonly answer: Message;
  readonly duration: number;
}

export interface SentToken {
  readonly scheme: string;
  readonly digest: string;
  readonly verified: boolean;
  readonly subject?: string;
  readonly repository?: string;
  readonly issued?: string;
  readonly expires?: string;
  readonly jti?: string;
}

export interface Message {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Body;
  readonly bytes: number;
}

export interface Body {
  readonly text: string;
  readonly encoding: 'utf8' | 'base64';
  readonly truncated: boolean;
}

export interface GitFacts {
  readonly phase: string;
  readonly service: string;
  readonly protocol: number;
  readonly command?: string;
  readonly refs: readonly string[];
  readonly wants: readonly string[];
  readonly haves: readonly string[];
  readonly updates: readonly { ref: string; old: string; new: string; refused?: string }[];
  readonly counts: { readonly refs: number; readonly wants: number; readonly haves: number; readonly updates: number };
  readonly pack?: { readonly objects: number; readonly bytes: number };
  readonly error?: string;
}

/** What a row of the list shows: neither headers nor bodies. */
export type Row = Pick<
  Entry,
  'id' | 'at' | 'method' | 'operation' | 'repository' | 'subject' | 'status' | 'code' | 'origin' | 'outcome'
> & {
  /** Path and query. */
  readonly target: string;
  /** `fetch`, `push`, … */
  readonly command?: string;
  readonly duration: number;
  readonly sent: number;
  readonly received: number;
  readonly retryOf?: string;
};

/** Characters of a text that a row keeps. */
const LONGEST = 300;

/** Whether a text of a row is all of it. */
export function isWhole(text: string): boolean {
  return text.length <= LONGEST;
}

export function rowOf(entry: Entry): Row {
  const { id, at, method, path, query, operation, repository, subject, status, code, origin, outcome } = entry;
  return {
    id,
    at,
    method,
    target: shortened(query === '' ? path : `${path}?${query}`),
    status,
    origin,
    outcome,
    duration: entry.duration,
    sent: entry.request.bytes,
    received: entry.answer.bytes,
    ...(operation !== undefined && { operation }),
    ...(repository !== undefined && { repository: shortened(repository) }),
    ...(subject !== undefined && { subject: shortened(subject) }),
    ...(code !== undefined && { code }),
    ...(entry.retryOf !== undefined && { retryOf: entry.retryOf }),
    ...(entry.git?.command !== undefined && { command: entry.git.command }),
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
