import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { Rejection } from '../auth/rejection.js';
import { operationFacts } from '../config/operation-ids.js';
import { isGenericCode, type Problem, problem } from '../http/problem.js';
import type { Reply } from '../http/reply.js';
import { lazy } from '../memory/lazy.js';
import { mayBeAbsent } from '../operation/reply-schema.js';
import type { RequestContext } from './request-context.js';

/**
 * Maximum length, in characters, of a JSON text that is changed. Longer texts are sent unchanged, because parsing them
 * again takes too long.
 */
const LONGEST_TEXT = 64 * 1024;
/** Number of bytes at the start of a body that are sent one by one, each in a separate turn of the event loop. */
const SLICED = 64;

/** Page size that the specification states for most lists. A client's `limit` is never lowered below it. */
const STATED_PAGE = 20;

/**
 * Returns a random number generator for one use (`purpose`) in one request. It depends only on the configured seed, the
 * request id and the purpose, so concurrent requests do not change its numbers.
 */
function drawFor({ adversary, id }: RequestContext, purpose: string): Draw {
  let count = 0;
  return (below) => {
    const text = `${adversary}\0adversary\0${id}\0${purpose}\0${count++}`;
    return createHash('sha256').update(text).digest().readUInt32BE() % below;
  };
}

type Query = Readonly<Record<string, string | string[]>>;

/**
 * Lowers the `limit` of a query at random, but not below the page size that the specification states. Clients must
 * accept a page with fewer entries than requested.
 */
export function lowerLimit(context: RequestContext, query: Query): Query {
  const asked = Number(query.limit);
  const min = operationFacts(context.operation.id).statedPage ?? STATED_PAGE;
  if (!Number.isSafeInteger(asked) || asked <= min) return query;
  return { ...query, limit: String(min + drawFor(context, 'limit')(asked - min + 1)) };
}

/**
 * Replaces the code of an error response at random by an unknown code. This happens only if the specification names no
 * more than the generic code of the status (rule `err.new-codes`).
 *
 * Codes of refused credentials and of status 401 stay, because the table of token failure responses names them. Codes
 * of a status without a generic code also stay (rule `err.status-text-snake`).
 */
export function perturbProblem(context: RequestContext, refusal: Problem): Problem {
  const { faults } = context;
  const isNamed =
    context.refusal instanceof Rejection || refusal.code === 'unauthorized' || !isGenericCode(refusal.code);
  if (isNamed || refusal.options.shownAs !== undefined || faults.fired.length > 0) return refusal;
  // If the client has disconnected, no response is sent. The journal (list of all requests) must then show the real
  // code.
  if (context.signal.aborted) return refusal;
  const draw = drawFor(context, 'code');
  if (draw(2) === 0) return refusal;
  const { code, detail, status, options } = refusal;
  return problem(code, detail, { ...options, status, shownAs: unknownName(draw) });
}

/**
 * Changes a response at random in ways that the specification permits. It adds unknown members, drops optional members,
 * reorders members, sends a `Retry-After` beyond the window `t`, and sends the body byte by byte.
 *
 * Responses that a fault (simulated failure) has changed stay as they are, because a test expects exactly these.
 */
export function perturbReply(context: RequestContext): Reply {
  const { reply, operation, faults } = context;
  const isGit = operation?.group === 'Git' || (operation?.id.startsWith('lfs') ?? false);
  if (isGit || faults.fired.length > 0 || reply.cut !== undefined || context.signal.aborted) return reply;
  const draw = drawFor(context, 'reply');
  const waiting = waitLonger(reply, draw);
  // Leaves a body with an entity tag unchanged, because the tag identifies its exact bytes.
  if (waiting.headers?.etag !== undefined) return waiting;
  return perturbJson(operation?.id === 'fileMetadata' ? reread(waiting) : waiting, schemaOf(context), draw);
}

/**
 * Schema of an error body, which may get additional members (RFC 9457, 3.2). Does not apply to errors of file metadata,
 * which have exactly one member.
 */
const refusal = lazy(() => z.object({}));

/**
 * Returns the schema of the response body. Undefined if nothing may be added, because the body has a fixed set of
 * members.
 */
function schemaOf({ reply, operation }: RequestContext): z.core.$ZodType | undefined {
  const schema = operation?.replies[reply.status];
  if (schema !== undefined) return typeof schema === 'string' ? undefined : schema;
  const isShort = operation?.dialect === 'error' && reply.headers?.['content-type'] === undefined;
  return isShort ? undefined : refusal();
}

function waitLonger(reply: Reply, draw: Draw): Reply {
  const { ratelimit, 'retry-after': wait } = reply.headers ?? {};
  const [, window] = /;t=(\d+)/.exec(ratelimit ?? '') ?? [];
  if (window === undefined || wait === undefined || !/^\d+$/.test(wait)) return reply;
  const longer = Math.max(Number(wait), Number(window)) + 1 + draw(3);
  return { ...reply, headers: { ...reply.headers, 'retry-after': String(longer) } };
}

/**
 * Replaces the bytes of a file metadata response by the parsed JSON. The handler returns bytes because it caches them
 * for repeated requests.
 */
function reread(reply: Reply): Reply {
  const { bytes, ...rest } = reply;
  if (bytes === undefined || bytes.length > LONGEST_TEXT) return reply;
  return { ...rest, json: JSON.parse(Buffer.from(bytes).toString()) };
}

function perturbJson(reply: Reply, schema: z.core.$ZodType | undefined, draw: Draw): Reply {
  const { json, pieces, ...rest } = reply;
  if (json === undefined && pieces === undefined) return reply;
  const read = json === undefined ? readPieces(pieces!) : { value: json };
  if ('pieces' in read) return { ...rest, pieces: read.pieces };
  const [adds, drops, turns] = [draw(2) === 0, draw(2) === 0, draw(2) === 0];
  const value = perturbValue(read.value, schema, draw, { adds, drops, turns });
  if (draw(4) > 0) return { ...rest, json: value };
  const headers = { 'content-type': 'application/json', ...rest.headers };
  return { ...rest, headers, stream: sliced(Buffer.from(JSON.stringify(value))) };
}

/**
 * Joins and parses the pieces of a JSON text. If the text is too long, returns all pieces unparsed, including those
 * that were already read.
 */
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

async function* sliced(body: Buffer): AsyncGenerator<Buffer> {
  const end = Math.min(body.length, SLICED);
  for (let at = 0; at < end; at++) {
    yield body.subarray(at, at + 1);
    await nextTurn();
  }
  if (end < body.length) yield body.subarray(end);
}

/** Returns a random integer from 0 (inclusive) to `below` (exclusive). */
export type Draw = (below: number) => number;

/** Selects the kinds of changes to a response body. */
export interface Perturbations {
  /** True to add unknown members to objects. */
  readonly adds: boolean;
  /** True to drop optional members of objects. */
  readonly drops: boolean;
  /** True to reorder the members of objects. */
  readonly turns: boolean;
}

/**
 * Possible values of added members. None is an array, because clients identify the list in a response as its only
 * array.
 */
const UNKNOWN_VALUES: readonly unknown[] = [null, 7, 'unknown', { nested: true }];

/** Returns a random name for a member or error code that no specification defines. */
export function unknownName(draw: Draw): string {
  return `x_unknown_${draw(1000)}`;
}

/**
 * Applies the selected changes to a JSON value and all values inside it. If `schema` does not describe an object, or if
 * the object's keys are data, its members are only reordered.
 */
export function perturbValue(
  value: unknown,
  schema: z.core.$ZodType | undefined,
  draw: Draw,
  perturbations: Perturbations,
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const shape = schema && inner(schema);
  if (Array.isArray(value)) {
    const element = shape instanceof z.ZodArray ? shape.element : undefined;
    return value.map((item) => perturbValue(item, element, draw, perturbations));
  }
  const members: [name: string, member: unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const own = memberSchema(shape, name);
    if (perturbations.drops && own !== undefined && mayBeAbsent(own, member) && draw(2) === 0) continue;
    members.push([name, perturbValue(member, own, draw, perturbations)]);
  }
  if (perturbations.adds && shape instanceof z.ZodObject) {
    members.push([unknownName(draw), UNKNOWN_VALUES[draw(UNKNOWN_VALUES.length)]]);
  }
  if (perturbations.turns) for (let at = members.length - 1; at > 0; at--) swap(members, at, draw(at + 1));
  return Object.fromEntries(members);
}

function memberSchema(shape: z.core.$ZodType | undefined, name: string): z.core.$ZodType | undefined {
  if (shape instanceof z.ZodObject) return Object.hasOwn(shape.shape, name) ? shape.shape[name] : undefined;
  return shape instanceof z.ZodRecord ? shape.valueType : undefined;
}

/** Returns the inner schema of an optional or nullable schema. */
function inner(schema: z.core.$ZodType): z.core.$ZodType {
  let found = schema;
  while (found instanceof z.ZodOptional || found instanceof z.ZodNullable) found = found.unwrap();
  return found;
}

function swap<T>(list: T[], one: number, other: number): void {
  [list[one], list[other]] = [list[other]!, list[one]!];
}
