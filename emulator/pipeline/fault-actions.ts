import { setTimeout as sleep } from 'node:timers/promises';
import type { Action, RetryAfter } from '../faults/fault.js';
import type { ChosenAction } from '../faults/request-faults.js';
import type { Position } from '../faults/stage.js';
import { NO_BYTES } from '../git/object/bytes.js';
import { ZERO_OID } from '../git/object/object.js';
import { genericCodeOf, type Problem, problem } from '../http/problem.js';
import { bytes, empty, type Reply } from '../http/reply.js';
import type { StepId } from '../journal/steps.js';
import { throttled } from '../quotas/throttled.js';
import { failedResult } from '../repositories/branch-write.js';
import { STATES_BY_CODE, stateProblem } from '../repositories/lifecycle.js';
import { stateRefusal } from './fault-facts.js';
import { CHALLENGE } from './refusal-variants.js';
import type { RequestContext, Step } from './request-context.js';
import { breakWire } from './wire-faults.js';

/** Seconds that a client is told to wait when a fault does not say how many. */
const RETRY_AFTER = 1;

/** Where the journal says that a request met a fault. */
const STEP_OF: Readonly<Partial<Record<Position, StepId>>> = {
  headers: 'faults.headers',
  auth: 'faults.auth',
  quota: 'faults.quota',
  before: 'faults.before',
  body: 'faults.body',
  after: 'faults.after',
  'response.head': 'faults.response.head',
  'response.body': 'faults.response.body',
};

/** A reply that takes the place of the one that the request would have got. */
export class InjectedReply extends Error {
  override readonly name = 'InjectedReply';

  constructor(readonly reply: Reply) {
    super('The answer was given by a fault.');
  }
}

/** Step: the faults of a stage. */
export function faultsAt(position: Position): Step {
  return (context) => meetFaults(context, position);
}

/** Chooses what happens to the request at a stage, and does it. Throws what ends the request there. */
export function meetFaults(context: RequestContext, position: Position): void | Promise<void> {
  if (!context.faults.isArmed) return;
  const chosen = context.faults.take(position);
  if (chosen.length > 0) return carryOut(context, chosen, position);
}

/** Does what was chosen for a stage, in order. Throws what ends the request there. */
export async function carryOut(
  context: RequestContext,
  chosen: readonly ChosenAction[],
  position?: Position,
): Promise<void> {
  try {
    for (const { id, action } of chosen) {
      await carryOutOne(context, id, action);
      breakWire(context, position, id, action);
    }
  } catch (error) {
    const at = position === undefined ? undefined : STEP_OF[position];
    if (at !== undefined) context.thrown = { error, at };
    throw error;
  }
}

async function carryOutOne(context: RequestContext, id: string, action: Action): Promise<void> {
  if ('latency' in action) await sleep(action.latency.ms, undefined, { signal: context.signal });
  else if ('hold' in action) {
    await context.faults.released(action.hold, context.signal);
    context.signal.throwIfAborted();
  } else if ('error' in action) throw problemOf(context, id, action.error);
  else if ('unknownCode' in action) {
    const { status, code, retryAfter } = action.unknownCode;
    const headers = retryAfterHeader(context, retryAfter ?? (status === 429 || status === 503 ? RETRY_AFTER : 'omit'));
    throw problem(genericCodeOf(status), injected(id), { status, headers, shownAs: code });
  } else if ('raw' in action) throw new InjectedReply(literalReply(action.raw));
}

function literalReply({ status, headers, bodyBase64 }: Extract<Action, { raw: unknown }>['raw']): Reply {
  if (bodyBase64 === undefined) return empty(status, headers);
  return bytes(status, Buffer.from(bodyBase64, 'base64'), headers);
}

function injected(id: string): string {
  return `The fault ${id} was asked for.`;
}

type ErrorAction = Extract<Action, { error: unknown }>['error'];

/** The error as the operation answers with it, with the headers that belong to it. */
function problemOf(context: RequestContext, id: string, action: ErrorAction): Problem {
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
  // An operation that answers its failures with the write result does so here.
  const isResult = operation.dialect === 'result' && operation.errors.includes(code);
  return problem(code, detail, {
    headers,
    ...(isResult && { result: failedResult(NO_BYTES, ZERO_OID, detail) }),
    ...(code === 'merge_conflict' && { extra: { conflict_paths: [], merge_base_sha: null } }),
  });
}

/** What the operation answers while the repository is in the state, by the one table of states. */
function refusalByState(context: RequestContext, { code, detail, retryAfter }: ErrorAction): Problem {
  const refusal = stateRefusal(context, code) ?? code;
  const usual = stateProblem(STATES_BY_CODE[code]!, refusal, { retryAfter: RETRY_AFTER });
  const waits = usual.options.headers?.['retry-after'] !== undefined;
  const headers = retryAfterHeader(context, retryAfter ?? (waits ? RETRY_AFTER : 'omit'));
  return problem(refusal, detail ?? usual.detail, { headers });
}

/** Specification, Limits: `Retry-After` is the minimum delay, and takes precedence over the window `t`. */
function throttling(context: RequestContext, { detail, retryAfter = RETRY_AFTER, t }: ErrorAction): Problem {
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
