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

/** Seconds in `Retry-After` if a fault does not specify them. */
const RETRY_AFTER = 1;

/** Stages that have their own step in the chain, named `faults.` and the stage. */
type Place = Exclude<Position, 'accept' | `git.${string}`>;

/** Thrown to replace the response of a request. */
export class InjectedReply extends Error {
  override readonly name = 'InjectedReply';

  constructor(readonly reply: Reply) {
    super('The response was injected by a fault.');
  }
}

/** Step: applies the faults of a stage. */
export function faultsAt(position: Place): Step {
  return (context) => applyFaults(context, position);
}

/** Selects the fault that fires at a stage and carries it out. Throws if the fault ends the request. */
export function applyFaults(context: RequestContext, position: Place): void | Promise<void> {
  if (!context.faults.isArmed) return;
  const chosen = context.faults.take(position);
  if (chosen.length > 0) return carryOut(context, chosen, position);
}

/** Returns the faults that a Git service carries out on the wire; undefined if no fault can apply to the request. */
export function gitFaultsOf(context: RequestContext): GitFaults | undefined {
  const { faults } = context;
  if (!faults.isArmed) return undefined;
  return {
    learn: (facts) => faults.learn(facts),
    take: (stage) => faults.take(stage),
    wait: (chosen) => carryOut(context, chosen, undefined, BEFORE_RESPONSE),
  };
}

/** Carries out the actions selected for a stage, in order. Throws if one ends the request. */
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

/** Kinds that delay or replace a response. */
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

/** The kinds of `BEFORE_RESPONSE`, and all other kinds except those of the Git protocol. */
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

/** Returns the error in the error format of the operation, with its headers. */
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
  // Operations with the dialect `result` respond to their failures with a write result.
  const isResult = operation.dialect === 'result' && operation.errors.includes(code);
  return problem(code, detail, {
    headers,
    ...(isResult && { result: failedResult(NO_BYTES, ZERO_OID, detail) }),
    ...(code === 'merge_conflict' && { extra: { conflict_paths: [], merge_base_sha: null } }),
  });
}

/**
 * Returns the error with which the operation is refused in the repository state of an error code, such as
 * `repository_thawing`.
 */
function refusalByState(context: RequestContext, { code, detail, retryAfter }: ErrorValue): Problem {
  const refusal = context.stateRefusal(code) ?? code;
  const usual = stateProblem(STATES_BY_CODE[code]!, refusal, RETRY_AFTER);
  const waits = usual.options.headers?.['retry-after'] !== undefined;
  const headers = retryAfterHeader(context, retryAfter ?? (waits ? RETRY_AFTER : 'omit'));
  return problem(refusal, detail ?? usual.detail, { headers });
}

/**
 * `Retry-After` is the minimum delay, and takes precedence over the window `t` (rule `rate.429.retry-after.precedence`).
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

/** Fault that fires for a request, and its stage. */
interface Met {
  readonly context: RequestContext;
  /** Id of the fault. */
  readonly id: string;
  /** Undefined at a stage of Git. */
  readonly position: Place | undefined;
}

/** Functions that carry out each kind of fault. They throw if the fault ends the request. */
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

/** Returns how the connection ends. Without a payload to truncate, `end` closes the connection without a response. */
function connectionEnding(how: Ending): ConnectionEnding {
  return how === 'end' ? 'fin' : how;
}

function loseResponse(id: string, how: Lost): never {
  if (typeof how === 'string') throw new ResponseCut(how);
  const { status } = how;
  throw problem(genericCodeOf(status), `The response was lost by the fault ${id}.`, { status });
}

/** Corrupts the request body at the stage `body`, and the response body at all other stages. */
function breakBytes({ context, position }: Met, breakage: Breakage): void {
  const member = position === 'body' ? 'bodyBreakage' : 'responseBreakage';
  context[member] = { ...context[member], ...breakage };
}

/**
 * Returns the reply to a request whose connection was closed without a response. The journal shows the status that the
 * response would have had.
 */
export function cutReply({ reply }: { readonly reply: Reply | undefined }, { how }: ResponseCut): Reply {
  return { status: reply?.status ?? 0, cut: { how } };
}

/** Returns the response with the corruption that faults selected for it. */
export function breakResponse({ reply, request, responseBreakage, world }: RequestContext): Reply {
  if (responseBreakage === undefined || reply.cut !== undefined) return reply;
  return breakReply(reply, responseBreakage, request.method, world.engine.schedule);
}

/** Returns the limits of a stalled response: its timeout, and the signal that ends all stalls. */
export function stallTimeout({ world }: RequestContext): StallLimits {
  return { idleMs: world.limits.idleTimeout, signal: world.background.stalls };
}

/**
 * Returns the cut position in a body that is still being read. `length` is its `Content-Length`, or 0 for a chunked
 * body, which is cut after one byte.
 */
function placeWhileReading(at: CutPoint | undefined, length: number): CutPlace {
  if (at?.bytes !== undefined) return { bytes: at.bytes };
  return { bytes: Math.max(1, Math.floor(length * (at?.fraction ?? 0.5))) };
}
