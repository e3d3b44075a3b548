import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorValue, RetryAfter } from '../faults/kinds/error.js';
import { callByKind } from '../faults/kinds/index.js';
import type { ChosenAction } from '../faults/request-facts.js';
import type { Position } from '../faults/stage.js';
import { NO_BYTES } from '../git/object/bytes.js';
import { ZERO_OID } from '../git/object/object.js';
import { genericCodeOf, type Problem, problem } from '../http/problem.js';
import { bytes, empty, type Reply } from '../http/reply.js';
import type { StepId } from '../journal/steps.js';
import { throttled } from '../quotas/throttled.js';
import { failedResult } from '../repositories/branch-write.js';
import { STATES_BY_CODE, stateProblem } from '../repositories/lifecycle.js';
import type { GitFaults } from '../smart-http/git-faults.js';
import { stateRefusal } from './fault-facts.js';
import { CHALLENGE } from './refusal-variants.js';
import type { RequestContext, Step } from './request-context.js';
import { type CarryOut, ON_WIRE } from './wire-faults.js';

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

/** What Git's services ask for, and carry out on the wire; undefined if no fault can meet the request. */
export function gitFaultsOf(context: RequestContext): GitFaults | undefined {
  const { faults } = context;
  if (!faults.isArmed) return undefined;
  return {
    learn: (facts) => faults.learn(facts),
    take: (stage) => faults.take(stage),
    wait: (chosen) => carryOut(context, chosen, undefined, BEFORE_ANSWER),
  };
}

/** Does what was chosen for a stage, in order. Throws what ends the request there. */
export async function carryOut(
  context: RequestContext,
  chosen: readonly ChosenAction[],
  position?: Position,
  table: CarryOut = EVERYWHERE,
): Promise<void> {
  try {
    for (const { id, action } of chosen) await callByKind(table, action, { context, id, position });
  } catch (error) {
    const at = position === undefined ? undefined : STEP_OF[position];
    if (at !== undefined) context.thrown = { error, at };
    throw error;
  }
}

/** The kinds that delay or replace a response. */
const BEFORE_ANSWER: CarryOut = {
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
};

const EVERYWHERE: CarryOut = { ...BEFORE_ANSWER, ...ON_WIRE };

function injected(id: string): string {
  return `The fault ${id} was asked for.`;
}

/** The error as the operation answers with it, with the headers that belong to it. */
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
  // An operation that answers its failures with the write result does so here.
  const isResult = operation.dialect === 'result' && operation.errors.includes(code);
  return problem(code, detail, {
    headers,
    ...(isResult && { result: failedResult(NO_BYTES, ZERO_OID, detail) }),
    ...(code === 'merge_conflict' && { extra: { conflict_paths: [], merge_base_sha: null } }),
  });
}

/** What the operation answers while the repository is in the state, by the one table of states. */
function refusalByState(context: RequestContext, { code, detail, retryAfter }: ErrorValue): Problem {
  const refusal = stateRefusal(context, code) ?? code;
  const usual = stateProblem(STATES_BY_CODE[code]!, refusal, { retryAfter: RETRY_AFTER });
  const waits = usual.options.headers?.['retry-after'] !== undefined;
  const headers = retryAfterHeader(context, retryAfter ?? (waits ? RETRY_AFTER : 'omit'));
  return problem(refusal, detail ?? usual.detail, { headers });
}

/** Specification, Limits: `Retry-After` is the minimum delay, and takes precedence over the window `t`. */
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
