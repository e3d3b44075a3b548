import { setTimeout as sleep } from 'node:timers/promises';
import type { Cut, CutPoint, Ending } from '../faults/kinds/cut.js';
import type { ErrorValue, RetryAfter } from '../faults/kinds/error.js';
import { callByKind, type GitKindName, type KindName, type KindValues } from '../faults/kinds/index.js';
import type { Lost } from '../faults/kinds/lost.js';
import type { ChosenAction } from '../faults/request-facts.js';
import type { Position } from '../faults/stage.js';
import { NO_BYTES } from '../git/object/bytes.js';
import { ZERO_OID } from '../git/object/object.js';
import type { CutPlace } from '../http/broken-bytes.js';
import { type Breakage, breakReply } from '../http/broken-response.js';
import { genericCodeOf, type Problem, problem } from '../http/problem.js';
import { bytes, type ConnectionEnding, empty, type Reply } from '../http/reply.js';
import { ResponseCut, type StallLimits } from '../http/response-cut.js';
import { throttled } from '../quotas/throttled.js';
import { failedResult } from '../repositories/branch-write.js';
import { STATES_BY_CODE, stateProblem } from '../repositories/lifecycle.js';
import { type GitFaults, placeOf } from '../smart-http/git-faults.js';
import { CHALLENGE } from './refusal-variants.js';
import type { RequestContext, Step } from './request-context.js';

/** Default of the `Retry-After` header in seconds, if a fault (simulated failure) does not specify a value. */
const RETRY_AFTER = 1;

/**
 * Stages of a request (points at which a fault can fire) that have their own pipeline step, named `faults.<stage>`.
 * Excludes `accept`, which comes before the pipeline, and the `git.` stages, which are inside the Git protocol.
 */
type Place = Exclude<Position, 'accept' | `git.${string}`>;

/** Error that a fault (simulated failure) throws to replace the operation's response with `reply`. */
export class InjectedReply extends Error {
  override readonly name = 'InjectedReply';

  constructor(readonly reply: Reply) {
    super('The response was injected by a fault.');
  }
}

/** Returns the pipeline step that applies the faults (simulated failures) of one stage. */
export function faultsAt(position: Place): Step {
  return (context) => applyFaults(context, position);
}

/**
 * Carries out the faults (simulated failures) that fire when the request reaches a stage. Throws if a fault ends the
 * request. Returns a promise only if a fault fires, because awaiting a promise would slow down every request.
 */
export function applyFaults(context: RequestContext, position: Place): void | Promise<void> {
  if (!context.faults.isArmed) return;
  const chosen = context.faults.take(position);
  if (chosen.length > 0) return carryOut(context, chosen, position);
}

/**
 * Returns the interface with which a Git service fires faults (simulated failures) inside its protocol, such as a
 * truncated pack. Returns undefined if no fault can apply to the request, so that the service can skip its checks.
 */
export function gitFaultsOf(context: RequestContext): GitFaults | undefined {
  const { faults } = context;
  if (!faults.isArmed) return undefined;
  return {
    learn: (facts) => faults.learn(facts),
    take: (stage) => faults.take(stage),
    wait: (chosen) => carryOut(context, chosen, undefined, BEFORE_RESPONSE),
  };
}

/**
 * Carries out the actions of the faults (simulated failures) that fire at a stage, in order. Throws if an action ends
 * the request. Records the error with the stage, so that the journal (list of past requests) shows where the request
 * stopped. `table` has a function for each kind of action that is possible at the stage.
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
 * Functions that carry out faults (simulated failures) that delay or replace a response. These kinds of faults also
 * work inside the Git protocol.
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
  raw: ({ status, headers, bodyBase64 }) => {
    const body = bodyBase64 === undefined ? undefined : Buffer.from(bodyBase64, 'base64');
    throw new InjectedReply(body ? bytes(status, body, headers) : empty(status, headers));
  },
} satisfies CarryOut;

/** Functions that carry out all kinds of faults (simulated failures) outside the Git protocol. */
const EVERYWHERE: Omit<Required<CarryOut>, GitKindName> = {
  ...BEFORE_RESPONSE,
  cut: (cut, met) => cutAt(met, cut),
  throttle: ({ bps }, met) => breakBytes(met, { bytesPerSecond: bps }),
  corrupt: ({ flip }, met) => breakBytes(met, { flip: { offset: flip } }),
  lost: (how, { id }) => loseResponse(id, how),
};

function injected(id: string): string {
  return `The response was injected by the fault ${id}.`;
}

/**
 * Returns the error response that the fault (simulated failure) `id` asks for. Adds the headers that the service sends
 * with this error code, such as `WWW-Authenticate`, so that it resembles a real error.
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
  // Adds a write result to the error: operations with the error format `result` report a failed write in this form.
  const isResult = operation.dialect === 'result' && operation.errors.includes(code);
  return problem(code, detail, {
    headers,
    ...(isResult && { result: failedResult(NO_BYTES, ZERO_OID, detail) }),
    ...(code === 'merge_conflict' && { extra: { conflict_paths: [], merge_base_sha: null } }),
  });
}

/**
 * Returns the operation's error response for a repository in a certain state. `code` is the error code of the state,
 * such as `repository_thawing`. The response may have a different code, because some operations report the state with
 * another one.
 */
function refusalByState(context: RequestContext, { code, detail, retryAfter }: ErrorValue): Problem {
  const refusal = context.stateRefusal(code) ?? code;
  const usual = stateProblem(STATES_BY_CODE[code]!, refusal, RETRY_AFTER);
  const waits = usual.options.headers?.['retry-after'] !== undefined;
  const headers = retryAfterHeader(context, retryAfter ?? (waits ? RETRY_AFTER : 'omit'));
  return problem(refusal, detail ?? usual.detail, { headers });
}

/**
 * Returns the response for an exhausted rate limit, as a real quota does. `t` is the window of the `RateLimit` header
 * in seconds. `Retry-After` is the minimum delay and takes precedence over `t` (rule
 * `rate.429.retry-after.precedence`).
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

/** Facts about a firing fault (simulated failure): the request, the fault, and the stage of the request. */
interface Met {
  readonly context: RequestContext;
  /** Id of the fault. The detail of an injected error response contains it. */
  readonly id: string;
  /** Stage (point of the request) at which the fault fires; undefined for a stage inside the Git protocol. */
  readonly position: Place | undefined;
}

/**
 * Functions that carry out faults (simulated failures), by kind of fault. A function throws if the fault ends the
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
 * Returns how to end a connection when no response body is truncated. The ending `end` (a regular end after a truncated
 * body) is then impossible, so the connection is closed without a response (`fin`).
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
 * Records how to corrupt or slow down a body: the request's at the stage `body`, the response's at all other stages.
 * The change takes effect when the body is read or sent. Changes of several faults are combined.
 */
function breakBytes({ context, position }: Met, breakage: Breakage): void {
  const member = position === 'body' ? 'bodyBreakage' : 'responseBreakage';
  context[member] = { ...context[member], ...breakage };
}

/**
 * Returns the reply for a request whose connection a fault closed without a response. Nothing is sent to the client.
 * The journal (list of past requests) shows the status of the response that was not sent; 0 if there was no response
 * yet.
 */
export function cutReply({ reply }: { readonly reply: Reply | undefined }, { how }: ResponseCut): Reply {
  return { status: reply?.status ?? 0, cut: { how } };
}

/**
 * Returns the response with the body changes that faults (simulated failures) demand, such as a flipped byte or a
 * limited speed. Returns it unchanged if no fault demands any.
 */
export function breakResponse({ reply, request, responseBreakage, world }: RequestContext): Reply {
  if (responseBreakage === undefined || reply.cut !== undefined) return reply;
  return breakReply(reply, responseBreakage, request.method, world.engine.schedule);
}

/**
 * Returns the limits for a stall: a connection that a fault (simulated failure) keeps open without sending anything.
 * `idleMs` is the maximum duration in milliseconds; `signal` ends all stalls at once.
 */
export function stallTimeout({ world }: RequestContext): StallLimits {
  return { idleMs: world.limits.idleTimeout, signal: world.background.stalls };
}

/**
 * Returns the position in a request body at which the emulator stops reading and ends the connection. `length` is the
 * `Content-Length` in bytes; 0 for a chunked body. Its length is unknown, so it is cut after one byte unless the fault
 * specifies a number of bytes.
 */
function placeWhileReading(at: CutPoint | undefined, length: number): CutPlace {
  if (at?.bytes !== undefined) return { bytes: at.bytes };
  return { bytes: Math.max(1, Math.floor(length * (at?.fraction ?? 0.5))) };
}
