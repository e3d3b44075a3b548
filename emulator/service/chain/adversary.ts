import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OperationId } from '../../config/operation-ids.js';
import type { Reply } from '../../http/reply.js';
import type { RequestContext } from '../request-context.js';

/** Texts that are longer stay as they are: to read them again would take too long. */
const LONGEST_TEXT = 64 * 1024;
/** Bytes that leave one by one, each in a turn of its own. */
const SLICED = 64;

/** Items of a page that the specification states where a request asks for no number; a cap is never below. */
const STATED_PAGE = 20;
const STATED_PAGES: Readonly<Partial<Record<OperationId, number>>> = { listFiles: 1000, fileMetadata: 200 };

/** Of members that no specification knows. No list: that of an answer is known by being the only one. */
const UNKNOWN_VALUES: readonly unknown[] = [null, 7, 'unknown', { nested: true }];

/** Numbers drawn from a seed: the same for the same request, whatever happens beside it. */
class Draw {
  private count = 0;

  constructor(private readonly seed: string) {}

  /** 0 up to `below`, without it. */
  next(below: number): number {
    const bytes = createHash('sha256')
      .update(`${this.seed}\0${this.count++}`)
      .digest();
    return bytes.readUInt32BE() % below;
  }
}

function drawFor({ adversary, id }: RequestContext, purpose: string): Draw {
  return new Draw(`${adversary}\0adversary\0${id}\0${purpose}`);
}

type Query = Readonly<Record<string, string | string[]>>;

/** A query whose `limit` is not granted as a whole, where it is more than the page that is stated. */
export function lowerLimit(context: RequestContext, query: Query): Query {
  const asked = Number(query.limit);
  const least = STATED_PAGES[context.operation.id] ?? STATED_PAGE;
  if (!Number.isSafeInteger(asked) || asked <= least) return query;
  return { ...query, limit: String(least + drawFor(context, 'limit').next(asked - least + 1)) };
}

/**
 * The answer as awkward as the specification allows: with members that it does not know, members in another order, a
 * `Retry-After` that is larger than `t`, and a body that arrives byte by byte. What a fault has touched stays as it is.
 */
export function bendReply(context: RequestContext): Reply {
  const { reply, operation, faults } = context;
  const isGit = operation?.group === 'Git' || (operation?.id.startsWith('lfs') ?? false);
  if (isGit || faults.fired.length > 0 || reply.cut !== undefined) return reply;
  const draw = drawFor(context, 'reply');
  const waiting = waitLonger(reply, draw);
  // An entity tag is of the bytes.
  if (waiting.headers?.etag !== undefined) return waiting;
  return bendJson(operation?.id === 'fileMetadata' ? reread(waiting) : waiting, draw);
}

function waitLonger(reply: Reply, draw: Draw): Reply {
  const { ratelimit, 'retry-after': wait } = reply.headers ?? {};
  const [, window] = /;t=(\d+)/.exec(ratelimit ?? '') ?? [];
  if (window === undefined || wait === undefined || !/^\d+$/.test(wait)) return reply;
  const longer = Math.max(Number(wait), Number(window)) + 1 + draw.next(3);
  return { ...reply, headers: { ...reply.headers, 'retry-after': String(longer) } };
}

/** File metadata leaves as bytes, for those who ask for the same again. */
function reread(reply: Reply): Reply {
  const { bytes, ...rest } = reply;
  if (bytes === undefined || bytes.length > LONGEST_TEXT) return reply;
  return { ...rest, json: JSON.parse(Buffer.from(bytes).toString()) };
}

function bendJson(reply: Reply, draw: Draw): Reply {
  const { json, pieces, ...rest } = reply;
  if (json === undefined && pieces === undefined) return reply;
  const read = json === undefined ? readPieces(pieces!) : { value: json };
  if ('pieces' in read) return { ...rest, pieces: read.pieces };
  const value = bend(read.value, draw, {
    // Two routes of one operation refuse with the same members.
    addsTo: draw.next(2) === 0 && reply.status < 400,
    turns: draw.next(2) === 0,
  });
  if (draw.next(4) > 0) return { ...rest, json: value };
  const headers = { 'content-type': 'application/json', ...rest.headers };
  return { ...rest, headers, stream: sliced(Buffer.from(JSON.stringify(value))) };
}

/** The value of a text in pieces, or the pieces again where it is too long. */
function readPieces(pieces: Iterable<string>): { readonly value: unknown } | { readonly pieces: Iterable<string> } {
  const rest = pieces[Symbol.iterator]();
  let text = '';
  for (let piece = rest.next(); !piece.done; piece = rest.next()) {
    text += piece.value;
    if (text.length > LONGEST_TEXT) return { pieces: joined(text, rest) };
  }
  return { value: JSON.parse(text) };
}

function* joined(first: string, rest: Iterator<string>): Generator<string> {
  try {
    yield first;
    for (let piece = rest.next(); !piece.done; piece = rest.next()) yield piece.value;
  } finally {
    rest.return?.();
  }
}

interface Bend {
  /** Whether a member is added: to the answer and to the items of its lists. Other objects may be maps. */
  readonly addsTo: boolean;
  readonly turns: boolean;
}

function bend(value: unknown, draw: Draw, { addsTo, turns }: Bend): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => bend(item, draw, { addsTo, turns }));
  const members = Object.entries(value).map(([name, member]) => {
    return [name, bend(member, draw, { addsTo: addsTo && Array.isArray(member), turns })] as const;
  });
  if (addsTo) members.push([`x_unknown_${draw.next(1000)}`, UNKNOWN_VALUES[draw.next(UNKNOWN_VALUES.length)]]);
  if (turns) for (let at = members.length - 1; at > 0; at--) swap(members, at, draw.next(at + 1));
  return Object.fromEntries(members);
}

function swap<T>(list: T[], one: number, other: number): void {
  [list[one], list[other]] = [list[other]!, list[one]!];
}

async function* sliced(body: Buffer): AsyncGenerator<Buffer> {
  const end = Math.min(body.length, SLICED);
  for (let at = 0; at < end; at++) {
    yield body.subarray(at, at + 1);
    await nextTurn();
  }
  if (end < body.length) yield body.subarray(end);
}
