import type { OutgoingHttpHeaders } from 'node:http';
import type { CapturedBody } from './captured-body.js';
import type { Outcome, RequestRecord } from './record.js';

/** What one request may have in common with many: it is kept once for all of them. */
export type RequestKind = Pick<
  RequestRecord,
  | 'organization'
  | 'method'
  | 'path'
  | 'query'
  | 'version'
  | 'operation'
  | 'token'
  | 'status'
  | 'code'
  | 'origin'
  | 'faults'
  | 'why'
  | 'stopped'
  | 'git'
  | 'head'
  | 'answerHead'
>;

/** Kinds that are remembered: clients ask for the same again and again. */
const REMEMBERED_KINDS = 256;

/**
 * The kinds that came lately. A part that is the same is the same object, so that they are compared by identity; reasons
 * are made for each request, and compared one by one.
 */
export class RequestKinds {
  private readonly kinds: (RequestKind | undefined)[] = new Array(REMEMBERED_KINDS).fill(undefined);

  /** `kind`, or one that is the same in everything. */
  share(kind: RequestKind): RequestKind {
    // What a request of Git is about is its own, and filled in while it is answered.
    if (kind.git !== undefined) return kind;
    const place = (7 * kind.path.length + kind.status + kind.method.length) % REMEMBERED_KINDS;
    const known = this.kinds[place];
    if (known !== undefined && isSame(known, kind)) return known;
    this.kinds[place] = kind;
    return kind;
  }
}

function isSame(known: RequestKind, kind: RequestKind): boolean {
  return (
    known.path === kind.path &&
    known.head === kind.head &&
    known.token === kind.token &&
    known.operation === kind.operation &&
    known.status === kind.status &&
    known.stopped === kind.stopped &&
    known.faults === kind.faults &&
    known.query === kind.query &&
    known.code === kind.code &&
    known.origin === kind.origin &&
    known.method === kind.method &&
    known.organization === kind.organization &&
    known.version === kind.version &&
    known.answerHead === kind.answerHead &&
    isSameList(known.why, kind.why)
  );
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  if (one === other) return true;
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}

type Own = Pick<RequestRecord, 'id' | 'time' | 'took' | 'weight' | 'body' | 'started'>;

/** A record in as few fields as it can be: some ten thousand of them are kept. */
export class KeptRequest implements RequestRecord {
  readonly id: string;
  readonly time: number;
  readonly took: number;
  readonly body: CapturedBody | undefined;
  readonly started: number;
  weight: number;
  answer: string | CapturedBody | undefined = undefined;
  outcome: Outcome = 'open';
  micros = 0;
  sendTime = 0;
  sequence = 0;
  ended = 0;
  retryOf: string | undefined = undefined;

  constructor(
    { id, time, took, weight, body, started }: Own,
    private kind: RequestKind,
  ) {
    this.id = id;
    this.time = time;
    this.took = took;
    this.body = body;
    this.started = started;
    this.weight = weight;
  }

  get organization() {
    return this.kind.organization;
  }

  get method() {
    return this.kind.method;
  }

  get path() {
    return this.kind.path;
  }

  get query() {
    return this.kind.query;
  }

  get version() {
    return this.kind.version;
  }

  get operation() {
    return this.kind.operation;
  }

  get token() {
    return this.kind.token;
  }

  get status() {
    return this.kind.status;
  }

  get code() {
    return this.kind.code;
  }

  get faults() {
    return this.kind.faults;
  }

  get why() {
    return this.kind.why;
  }

  get stopped() {
    return this.kind.stopped;
  }

  get git() {
    return this.kind.git;
  }

  get head() {
    return this.kind.head;
  }

  get origin(): string {
    return this.kind.origin;
  }

  set origin(origin: string) {
    this.kind = { ...this.kind, origin };
  }

  get answerHead(): OutgoingHttpHeaders | undefined {
    return this.kind.answerHead;
  }

  set answerHead(answerHead: OutgoingHttpHeaders | undefined) {
    this.kind = { ...this.kind, answerHead };
  }
}
