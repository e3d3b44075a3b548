import { setTimeout as sleep } from 'node:timers/promises';
import type { Cut, CutPoint, Ending } from '../faults/kinds/cut.js';
import type { ErrorValue, RetryAfter } from '../faults/kinds/error.js';
import {
  type ConnectionKindName,
  callByKind,
  type GitKindName,
  type KindName,
  type KindValues,
} from '../faults/kinds/index.js';
import type { Lost } from '../faults/kinds/lost.js';
import type { Raw, RawCut } from '../faults/kinds/raw.js';
import type { ChosenAction } from '../faults/request-facts.js';
import type { Position } from '../faults/stage.js';
import { NO_BYTES } from '../git/object/bytes.js';
import { ZERO_OID } from '../git/object/object.js';
import type { CutPlace } from '../http/broken-bytes.js';
import { type Breakage, breakReply } from '../http/broken-response.js';
import { genericCodeOf, type Problem, problem } from '../http/problem.js';
import { bytes, type ConnectionEnding, empty, type Reply, stream } from '../http/reply.js';
import { ResponseCut, type StallLimits } from '../http/response-cut.js';
import { throttled } from '../quotas/throttled.js';
import { failedResult } from '../repositories/branch-write.js';
import { STATES_BY_CODE, stateProblem } from '../repositories/lifecycle.js';
import { type GitFaults, placeOf } from '../smart-http/git-faults.js';
import { CHALLENGE } from './refusal-variants.js';
import type { RequestContext, Step } from './request-context.js';

/** Value of the `Retry-After` header, in seconds, if the fault (simulated failure) does not specify one. */
const RETRY_AFTER = 1;

/**
 * Positions (points of a request at which a fault can fire) with their own step in the pipeline, `faults.<position>`.
 * The positions `accept` and `handshake` are excluded because they precede the pipeline, and stages that begin with `git.` because they are
 * inside the Git protocol.
 */
type Place = Exclude<Position, 'accept' | 'handshake' | `git.${string}`>;

/** Thrown by a fault (simulated failure) so that the client receives `reply` instead of the operation's response. */
export class InjectedReply extends Error {
  override readonly name = 'InjectedReply';

  constructor(readonly reply: Reply) {
    super('The response was injected by a fault.');
  }
}

/** Returns the pipeline step that applies the faults (simulated failures) at `position` to each request. */
export function faultsAt(position: Place): Step {
  return (context) => applyFaults(context, position);
}

/**
 * Carries out the faults (simulated failures) that fire when the request is at `position`. Throws if a fault ends the
 * request. Returns a promise only if a fault fires, because waiting for a promise would slow down every request.
 */
export function applyFaults(context: RequestContext, position: Place): void | Promise<void> {
  if (!context.faults.isArmed) return;
  const chosen = context.faults.take(position);
  if (chosen.length > 0) return carryOut(context, chosen, position);
}

/**
 * Returns the interface through which a Git service fires faults (simulated failures) inside its protocol, such as a
 * truncated pack. Returns undefined if no fault can apply to the request, so that the service can skip its checks.
 */
export function gitFaultsOf(context: RequestContext): GitFaults | undefined {
  const { faults } = context;
  if (!faults.isArmed) return undefined;
  return {
    needsCommits: faults.needsCommits,
    needsContents: faults.needsContents,
    learn: (facts) => faults.learn(facts),
    take: (stage) => faults.take(stage),
    wait: (chosen) => carryOut(context, chosen, undefined, BEFORE_RESPONSE),
  };
}

/**
 * Carries out the chosen actions of faults (simulated failures), in order. Throws if an action ends the request.
 * `table` has one function for each kind of action that is possible.
 *
 * The error is recorded with `position`, so that the journal (list of past requests) shows where the request was
 * stopped.
 */
export async function carryOut(
  context: RequestContext,
  chosen: readonly ChosenAction[],
  position?: Place,
  table: CarryOut = EVERYWHERE,
): Promise<void> {
  try {
    for (const { id, action } of chosen) await callByKind(table, action, { context, id, position });
  } catch (error) {
    if (position !== undefined) context.thrown = { error, at: `faults.${position}` };
    throw error;
  }
}

/**
 * Functions for the kinds of faults (simulated failures) that delay or replace a response. These faults are also
 * possible inside the Git protocol.
 */
const BEFORE_RESPONSE = {
  latency: ({ ms }, { context }) => sleep(ms, undefined, { signal: context.signal }),
  hold: async (latch, { context }) => {
    await context.faults.released(latch, context.signal);
    context.signal.throwIfAborted();
  },
  error: (value, { context, id }) => {
    throw problemOf(context, id, value);
  },
  code: ({ status, code, retryAfter }, { context, id }) => {
    const headers = retryAfterHeader(context, retryAfter ?? (status === 429 || status === 503 ? RETRY_AFTER : 'omit'));
    throw problem(genericCodeOf(status), injected(id), { status, headers, shownAs: code });
  },
  raw: ({ status, headers, bodyBase64, cut }) => {
    const body = bodyBase64 === undefined ? undefined : Buffer.from(bodyBase64, 'base64');
    if (cut !== undefined) throw new InjectedReply(truncated(status, headers, body, cut));
    throw new InjectedReply(body ? bytes(status, body, headers) : empty(status, headers));
  },
} satisfies CarryOut;

/** Functions for all kinds of faults (simulated failures), except the kinds that exist only inside the Git protocol. */
const EVERYWHERE: Omit<Required<CarryOut>, GitKindName | ConnectionKindName> = {
  ...BEFORE_RESPONSE,
  cut: (cut, met) => cutAt(met, cut),
  throttle: ({ bps }, met) => breakBytes(met, { bytesPerSecond: bps }),
  slice: ({ size, pause = 0 }, met) => breakBytes(met, { slices: { size, pause } }),
  corrupt: ({ flip }, met) => breakBytes(met, { flip: { offset: flip } }),
  lost: (how, { id }) => loseResponse(id, how),
};

/** Returns a response that ends after `body` as `cut` says, before its announced length is reached. */
function truncated(
  status: number,
  headers: Raw['headers'] | undefined,
  body: Buffer | undefined,
  { how, length }: RawCut,
): Reply {
  async function* content(): AsyncGenerator<Uint8Array> {
    if (body !== undefined) yield body;
    throw new ResponseCut(how);
  }
  return stream(status, content(), { ...headers, ...(length !== undefined && { 'content-length': String(length) }) });
}

function injected(id: string): string {
  return `The response was injected by the fault ${id}.`;
}

/**
 * Returns the error response that the fault (simulated failure) `id` asks for. To resemble a real error, it has the
 * headers that the service sends with this error code, such as `WWW-Authenticate`.
 */
function problemOf(context: RequestContext, id: string, action: ErrorValue): Problem {
  const { code, detail = injected(id), retryAfter } = action;
  if (STATES_BY_CODE[code]) return refusalByState(context, action);
  if (code === 'rate_limited') return throttling(context, action);
  const { operation } = context;
  const headers = {
    ...(code === 'unauthorized' && CHALLENGE),
    ...(code === 'method_not_allowed' && {
      allow: [...new Set(operation.routes.map(({ method }) => method))].join(', '),
    }),
    ...retryAfterHeader(context, retryAfter ?? (code === 'service_unavailable' ? RETRY_AFTER : 'omit')),
  };
  // Adds a write result if the error format of the operation is `result`, because such an operation reports a failed
  // write in this form.
  const isResult = operation.dialect === 'result' && operation.errors.includes(code);
  return problem(code, detail, {
    headers,
    ...(isResult && { result: failedResult(NO_BYTES, ZERO_OID, detail) }),
    ...(code === 'merge_conflict' && { extra: { conflict_paths: [], merge_base_sha: null } }),
  });
}

/**
 * Returns the operation's error response for a repository in the state that `code` reports, such as
 * `repository_thawing`. Some operations report the state with another code, so the response may have a code other than
 * `code`.
 */
function refusalByState(context: RequestContext, { code, detail, retryAfter }: ErrorValue): Problem {
  const refusal = context.stateRefusal(code) ?? code;
  const usual = stateProblem(STATES_BY_CODE[code]!, refusal, RETRY_AFTER);
  const waits = usual.options.headers?.['retry-after'] !== undefined;
  const headers = retryAfterHeader(context, retryAfter ?? (waits ? RETRY_AFTER : 'omit'));
  return problem(refusal, detail ?? usual.detail, { headers });
}

/**
 * Returns the error response for an exhausted rate limit, as if a quota had refused the request. `t` is the window of
 * the `RateLimit` header, in seconds. Clients must wait for at least `Retry-After`, which takes precedence over `t`
 * (rule `rate.429.retry-after.precedence`).
 */
function throttling(context: RequestContext, { detail, retryAfter = RETRY_AFTER, t }: ErrorValue): Problem {
  const seconds = typeof retryAfter === 'number' ? retryAfter : RETRY_AFTER;
  const usual = throttled({ remaining: 0, window: t ?? seconds, retryAfter: seconds });
  const { ratelimit } = usual.options.headers as { ratelimit: string };
  return problem(usual.code, detail ?? usual.detail, {
    headers: { ratelimit, ...retryAfterHeader(context, retryAfter) },
  });
}

function retryAfterHeader({ world }: RequestContext, given: RetryAfter): Record<string, string> {
  switch (given) {
    case 'omit':
      return {};
    case 'garbage':
      return { 'retry-after': 'soon' };
    case 'http-date':
      return { 'retry-after': new Date(world.state.clock.now() + RETRY_AFTER * 1000).toUTCString() };
    default:
      return { 'retry-after': String(given) };
  }
}

/** Fault (simulated failure) that fires, with its request and the stage of the request. */
interface Met {
  readonly context: RequestContext;
  /** Id of the fault. Injected error responses name it in their detail. */
  readonly id: string;
  /** Point of the request at which the fault fires. Undefined for a stage inside the Git protocol. */
  readonly position: Place | undefined;
}

/**
 * Functions that carry out faults (simulated failures), by the kind of fault. A function throws if the fault ends the
 * request.
 */
type CarryOut = {
  readonly [Name in KindName]?: (value: KindValues[Name], met: Met) => void | Promise<void>;
};

function cutAt(met: Met, { at, how = 'fin' }: Cut): void {
  const { context } = met;
  switch (met.position) {
    case 'body': {
      const length = Number(context.request.headers['content-length'] ?? 0);
      breakBytes(met, { cut: { at: placeWhileReading(at, length), how: connectionEnding(how) } });
      return;
    }
    case 'response.body':
      breakBytes(met, { cut: { at: placeOf(at, 0), how } });
      return;
    case 'response.head':
      context.reply = {
        ...context.reply,
        cut: { how: connectionEnding(how), bytes: at?.bytes, fraction: at?.fraction },
      };
      return;
    default:
      throw new ResponseCut(connectionEnding(how));
  }
}

/**
 * Returns how to end a connection without truncating a response body. `end` (regular end after a truncated body) is
 * then impossible, so it becomes `fin`: the connection is closed without a response.
 */
function connectionEnding(how: Ending): ConnectionEnding {
  return how === 'end' ? 'fin' : how;
}

function loseResponse(id: string, how: Lost): never {
  if (typeof how === 'string') throw new ResponseCut(how);
  const { status } = how;
  throw problem(genericCodeOf(status), `The response was lost by the fault ${id}.`, { status });
}

/**
 * Records how a body is to be corrupted or slowed down: the request body at the position `body`, otherwise the response
 * body. This happens when the body is read or sent. The changes of several faults are combined.
 */
function breakBytes({ context, position }: Met, breakage: Breakage): void {
  const member = position === 'body' ? 'bodyBreakage' : 'responseBreakage';
  context[member] = { ...context[member], ...breakage };
}

/**
 * Returns the reply for a request whose connection a fault closed without a response. Nothing of the reply is sent, but
 * the journal (list of past requests) shows its status. This is the status of the unsent response; 0 if there was none
 * yet.
 */
export function cutReply({ reply }: { readonly reply: Reply | undefined }, { how }: ResponseCut): Reply {
  return { status: reply?.status ?? 0, cut: { how } };
}

/**
 * Returns the response with the changes to its body that faults (simulated failures) demand, such as flipped bytes or a
 * limited speed. Returns it unchanged if there are none.
 */
export function breakResponse({ reply, request, responseBreakage, world }: RequestContext): Reply {
  if (responseBreakage === undefined || reply.cut !== undefined) return reply;
  return breakReply(reply, responseBreakage, request.method, world.engine.schedule);
}

/**
 * Returns the limits of a stall, in which a fault (simulated failure) keeps a connection open without sending anything.
 * They are the maximum duration in milliseconds, and a signal that ends all stalls at once.
 */
export function stallTimeout({ world }: RequestContext): StallLimits {
  return { idleMs: world.limits.idleTimeout, signal: world.background.stalls };
}

/**
 * Returns the position at which the emulator stops reading a request body and ends the connection. `length` is the
 * `Content-Length` in bytes.
 *
 * The length of a chunked body is unknown, so `length` is 0. The body is then cut after one byte, unless the fault
 * specifies a number of bytes.
 */
function placeWhileReading(at: CutPoint | undefined, length: number): CutPlace {
  if (at?.bytes !== undefined) return { bytes: at.bytes };
  return { bytes: Math.max(1, Math.floor(length * (at?.fraction ?? 0.5))) };
}
