import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { runSync, type Steps } from '../schedule/steps.js';
import { GatheredBytes } from './gathered-bytes.js';
import { type Problem, type ProblemCode, problem } from './problem.js';

export interface BodyOptions {
  readonly maxBytes: number;
  /** Maximum time between two chunks of the body, in milliseconds of real time. */
  readonly idleTimeout: number;
  /** Called with each chunk as it arrives. */
  readonly watch?: (piece: Buffer) => void;
  /** Called before the first chunk of the body is read, for example to send `100 Continue`. */
  readonly onBeforeRead?: () => void;
}

/**
 * Yields the chunks of a request body as they arrive. Throws `payload_too_large` if the body is longer than `maxBytes`,
 * `request_timeout` if no chunk arrives for `idleTimeout`, and `request_canceled` if the client disconnects too early.
 */
export async function* readChunks(request: IncomingMessage, options: BodyOptions): AsyncGenerator<Buffer> {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length > options.maxBytes) throw tooLarge(options.maxBytes);
  options.onBeforeRead?.();
  let timedOut = false;
  let isConsumerBusy = false;
  const idle = setTimeout(() => {
    // The client does not cause the pause while the consumer still processes the last chunk. The timer starts again.
    if (isConsumerBusy) {
      idle.refresh();
      return;
    }
    timedOut = true;
    request.pause();
    request.emit(
      'error',
      problem('request_timeout', `No part of the request body arrived for ${options.idleTimeout} ms (--idle-timeout).`),
    );
  }, options.idleTimeout);
  idle.unref();
  let bytes = 0;
  try {
    // With `destroyOnReturn: true`, leaving the loop would close the connection. It must stay open for the error
    // response.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      idle.refresh();
      bytes += chunk.length;
      options.watch?.(chunk);
      if (bytes > options.maxBytes) {
        throw tooLarge(options.maxBytes);
      }
      isConsumerBusy = true;
      yield chunk;
      isConsumerBusy = false;
      idle.refresh();
    }
  } catch (error) {
    if (isReset(error))
      throw problem('request_canceled', 'The client disconnected before the request body was complete.');
    throw error;
  } finally {
    clearTimeout(idle);
  }
  if (!timedOut && !request.complete) {
    throw problem('request_canceled', 'The client disconnected before the request body was complete.');
  }
}

export function tooLarge(maxBytes: number) {
  return problem(
    'payload_too_large',
    `The request body is larger than ${maxBytes} bytes, the maximum for this request.`,
  );
}

function isReset(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | null | undefined)?.code;
  return code === 'ECONNRESET' || code === 'ABORT_ERR';
}

/**
 * Throws `unsupported_media_type` if the request body is compressed. A small compressed body could expand beyond the
 * size limit of bodies.
 */
export function refuseContentEncoding(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw problem(
      'unsupported_media_type',
      'Compressed request bodies are not supported. Send the body without Content-Encoding.',
    );
  }
}

export async function readBody(request: IncomingMessage, options: BodyOptions): Promise<Buffer> {
  return readAll(readChunks(request, options));
}

export async function readAll(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const gathered = new GatheredBytes();
  for await (const chunk of chunks) gathered.add(chunk);
  return gathered.take();
}

/**
 * Validates `value` against `schema` and returns the parsed value. If it is invalid, throws an error response with
 * `code`, by default `bad_request`. The message describes the first issue and calls the value `what`.
 */
export function checkShape<T>(schema: z.ZodType<T>, value: unknown, what: string, code?: ProblemCode): T {
  return runSync(shapeSteps(schema, value, what, code));
}

/**
 * Like `checkShape`, but yields between slices of work, so that a large value does not block other requests. `place` is
 * the path of the value inside a larger value, for the error message.
 */
export function* shapeSteps<T>(
  schema: z.ZodType<T>,
  value: unknown,
  what: string,
  code: ProblemCode = 'bad_request',
  place: readonly string[] = [],
): Steps<T> {
  const validation = { value, what, code };
  const result = schema.safeParse(yield* truncateAfterFirstIssue(schema, value, place, validation));
  if (result.success) return result.data;
  const { issues } = result.error;
  // Prefers to report an unknown member. A misspelt name also causes the issue "missing member", which would explain
  // less.
  const issue = issues.find((found) => found.code === 'unrecognized_keys') ?? issues[0]!;
  throw shapeProblem(issue, place, validation);
}

/**
 * Validates the items of a list one by one and returns the parsed items. Yields between slices of work. The error
 * message for an invalid item is the same as that of `checkShape` for the whole list at `path`.
 */
export function* checkItems<T>(schema: z.ZodType<T>, items: readonly unknown[], path: string): Steps<T[]> {
  const checked: T[] = [];
  for (const [index, item] of items.entries()) {
    const result = schema.safeParse(item);
    if (!result.success) {
      const issue = result.error.issues[0]!;
      throw shapeProblem(issue, [path, String(index)], { value: item, what: path, code: 'bad_request' });
    }
    checked.push(result.data);
    if (index % ITEMS_PER_YIELD === ITEMS_PER_YIELD - 1) yield ITEMS_PER_YIELD * ITEM_UNITS;
  }
  return checked;
}

/** Number of items to validate before yielding to other requests. */
const ITEMS_PER_YIELD = 64;
/** Cost of validating one item, in units of CPU work (`schedule/cost.ts`). */
const ITEM_UNITS = 2;

interface Validation {
  readonly value: unknown;
  readonly what: string;
  readonly code: ProblemCode;
}

function shapeProblem(given: z.core.$ZodIssue, place: readonly string[], { value, what, code }: Validation): Problem {
  const issue = bestMatchingIssue(given);
  const shownPath = [...place, ...issue.path].map(String).join('.');
  if (shownPath === '' && value === undefined) return problem(code, `${what} is required.`);
  const { message } = (issue.code === 'invalid_key' && issue.issues[0]) || issue;
  return problem(code, shownPath === '' ? `${what}: ${message}` : `${shownPath}: ${message}`);
}

/**
 * Returns the validation issue to report. If a union has no message of its own and none of its variants matches, this
 * is the issue with the longest path. It belongs to the variant that matches best.
 */
function bestMatchingIssue(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union' || issue.message !== 'Invalid input') return issue;
  const inner = issue.errors
    .map((issues) => bestMatchingIssue(issues[0]!))
    .sort((a, b) => b.path.length - a.path.length)[0];
  return inner ? { ...inner, path: [...issue.path, ...inner.path] } : issue;
}

/**
 * Lists and records with fewer items are validated as a whole, because they can have only a few issues. Longer ones are
 * truncated after their first issue.
 */
const SHORT = 100;

/**
 * Returns a copy of `value` in which each long list and record ends after its first validation issue. Only one issue is
 * reported, and creating the messages of all others takes too long (measured: seconds for 300,000 issues).
 *
 * If a list is longer than its schema allows, it is truncated after the first surplus item, so that no more items are
 * validated. If a record, at any depth, has more members than the `maxProperties` of its schema, throws before any
 * member is validated.
 */
function* truncateAfterFirstIssue(
  schema: z.core.$ZodType,
  value: unknown,
  path: readonly string[],
  validation: Validation,
): Steps<unknown> {
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  if (typeof value !== 'object' || value === null) return value;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'readonly':
      return yield* truncateAfterFirstIssue(def.innerType, value, path, validation);
    case 'lazy':
      return yield* truncateAfterFirstIssue((schema as z.core.$ZodLazy)._zod.innerType, value, path, validation);
    case 'union': {
      const lists = Array.isArray(value) ? def.options.filter(isList) : [];
      return lists.length === 1 ? yield* truncateAfterFirstIssue(lists[0]!, value, path, validation) : value;
    }
    case 'array': {
      if (!Array.isArray(value) || value.length < SHORT) return value;
      const maximum = maxLengthOf(def);
      if (value.length > maximum) return value.slice(0, maximum + 1);
      const validCount = yield* countUntilIssue(value, (item) => z.core.safeParse(def.element, item).success);
      return validCount === value.length ? value : value.slice(0, validCount + 1);
    }
    case 'record': {
      if (Array.isArray(value)) return value;
      const members = Object.entries(value);
      const max = z.globalRegistry.get(schema)?.maxProperties;
      if (typeof max === 'number' && members.length > max) {
        throw problem(validation.code, `${path.join('.') || validation.what}: has more than ${max} members.`);
      }
      if (members.length < SHORT) {
        for (const [name, member] of members)
          yield* truncateAfterFirstIssue(def.valueType, member, [...path, name], validation);
        return value;
      }
      const validCount = yield* countUntilIssue(
        members,
        ([name, member]) => z.core.safeParse(schema, { [name]: member }).success,
      );
      return validCount === members.length ? value : Object.fromEntries(members.slice(0, validCount + 1));
    }
    case 'object': {
      if (Array.isArray(value)) return value;
      let truncated: Record<string, unknown> | undefined;
      for (const [name, member] of Object.entries(def.shape)) {
        if (!Object.hasOwn(value, name)) continue;
        const before = (value as Record<string, unknown>)[name];
        const after = yield* truncateAfterFirstIssue(member, before, [...path, name], validation);
        if (after === before) continue;
        truncated ??= { ...value };
        truncated[name] = after;
      }
      return def.catchall?._zod.def.type === 'never'
        ? withOneUnknownMember(def.shape, truncated ?? value)
        : (truncated ?? value);
    }
    default:
      return value;
  }
}

function isList(schema: z.core.$ZodType): boolean {
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  return def.type === 'array' || (def.type === 'readonly' && isList(def.innerType));
}

/** Returns the maximum length that the schema of a list allows; Infinity if unlimited. */
function maxLengthOf({ checks = [] }: z.core.$ZodArrayDef): number {
  const lengths = checks.map(({ _zod: { def } }) => (def as Partial<z.core.$ZodCheckMaxLengthDef>).maximum ?? Infinity);
  return Math.min(Infinity, ...lengths);
}

/**
 * If the object has many unknown members, removes all of them but the first. Otherwise the error message would list all
 * their names.
 */
function withOneUnknownMember(shape: object, value: object): object {
  const names = Object.keys(value);
  if (names.length <= Object.keys(shape).length + SHORT) return value;
  const unknown = names.find((name) => !Object.hasOwn(shape, name));
  const kept = names.filter((name) => name === unknown || Object.hasOwn(shape, name));
  return Object.fromEntries(kept.map((name) => [name, (value as Record<string, unknown>)[name]]));
}

function* countUntilIssue<T>(items: readonly T[], isValid: (item: T) => boolean): Steps<number> {
  for (const [index, item] of items.entries()) {
    if (!isValid(item)) return index;
    if (index % ITEMS_PER_YIELD === ITEMS_PER_YIELD - 1) yield ITEMS_PER_YIELD * ITEM_UNITS;
  }
  return items.length;
}
