import { setTimeout as sleep } from 'node:timers/promises';
import type { Cut, CutPoint, Ending } from '../faults/kinds/cut.js';
import type { ErrorValue, RetryAfter } from '../faults/kinds/error.js';
import { callByKind, type KindName, type KindValues } from '../faults/kinds/index.js';
import type { Lost } from '../faults/kinds/lost.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import type { ChosenAction, RequestFacts, TokenFacts } from '../faults/request-facts.js';
import type { Position } from '../faults/stage.js';
import { NO_BYTES } from '../git/object/bytes.js';
import { ZERO_OID } from '../git/object/object.js';
import { AnswerCut, type Patience } from '../http/answer-cut.js';
import { breakBytes, breakReply } from '../http/broken-answer.js';
import type { CutPlace } from '../http/broken-bytes.js';
import { genericCodeOf, type Problem, type ProblemCode, problem } from '../http/problem.js';
import { bytes, type ConnectionEnding, empty, type Reply } from '../http/reply.js';
import type { StepId } from '../journal/steps.js';
import { throttled } from '../quotas/throttled.js';
import { failedResult } from '../repositories/branch-write.js';
import { refusalByCode, STATES_BY_CODE, stateProblem } from '../repositories/lifecycle.js';
import type { GitFaults } from '../smart-http/git-faults.js';
import { CHALLENGE } from './refusal-variants.js';
import type { RequestContext, Step, WireBreakage } from './request-context.js';

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

/** Every kind: those of `BEFORE_ANSWER`, and those that end or break the connection of a request. */
const EVERYWHERE: CarryOut = {
  ...BEFORE_ANSWER,
  cut: (cut, { context, position }) => cutAt(context, position, cut),
  throttle: ({ bps }, { context, position }) => {
    wireOf(context)[position === 'body' ? 'bodyRate' : 'rate'] = bps;
  },
  corrupt: ({ flip }, { context }) => {
    wireOf(context).flip = { offset: flip };
  },
  lost: (how, { id }) => loseAnswer(id, how),
};

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
  const usual = stateProblem(STATES_BY_CODE[code]!, refusal, RETRY_AFTER);
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

/** A fault that a request has met, and where. */
interface Met {
  readonly context: RequestContext;
  /** Id of the fault. */
  readonly id: string;
  /** Undefined at a stage of Git. */
  readonly position: Position | undefined;
}

/** Carries out the kinds of faults; throws what ends the request. */
type CarryOut = {
  readonly [Name in KindName]?: (value: KindValues[Name], met: Met) => void | Promise<void>;
};

function cutAt(context: RequestContext, position: Position | undefined, { at, how = 'fin' }: Cut): void {
  switch (position) {
    case 'body':
      wireOf(context).bodyCut = { at, how };
      return;
    case 'response.body':
      wireOf(context).cut = { at: placeOf(at), how };
      return;
    case 'response.head':
      context.reply = {
        ...context.reply,
        cut: { how: connectionEnding(how), bytes: at?.bytes, fraction: at?.fraction },
      };
      return;
    default:
      throw new AnswerCut(connectionEnding(how));
  }
}

/** Where there is no payload that could be short, valid HTTP is no answer at all. */
function connectionEnding(how: Ending): ConnectionEnding {
  return how === 'end' ? 'fin' : how;
}

function placeOf(at: CutPoint | undefined): CutPlace {
  return at?.bytes === undefined ? { fraction: at?.fraction ?? 0.5 } : { bytes: at.bytes };
}

function loseAnswer(id: string, how: Lost): never {
  if (typeof how === 'string') throw new AnswerCut(how);
  const { status } = how;
  throw problem(genericCodeOf(status), `The answer was lost: the fault ${id} was asked for.`, { status });
}

function wireOf(context: RequestContext): WireBreakage {
  context.wire ??= { breakBody: (chunks) => breakBody(context, chunks) };
  return context.wire;
}

/** The reply to a request that was cut: nothing of it is sent. A journal shows the status that would have been. */
export function cutReply({ reply }: { readonly reply: Reply | undefined }, { how }: AnswerCut): Reply {
  return { status: reply?.status ?? 0, cut: { how } };
}

/** The answer as it leaves. */
export function breakAnswer({ reply, request, wire, world }: RequestContext): Reply {
  if (wire === undefined || reply.cut !== undefined) return reply;
  const { cut, flip, rate } = wire;
  if (cut === undefined && flip === undefined && rate === undefined) return reply;
  return breakReply(reply, { cut, flip, bytesPerSecond: rate }, request.method, world.engine.schedule);
}

/** How long an answer stalls that was asked to. */
export function patienceOf({ world }: RequestContext): Patience {
  return { idleMs: world.limits.idleTimeout, signal: world.background.stalls };
}

/** The body of the request as it is read. */
function breakBody(context: RequestContext, chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const { wire } = context;
  return wire?.bodyCut === undefined && wire?.bodyRate === undefined ? chunks : brokenChunks(context, wire, chunks);
}

async function* brokenChunks(
  context: RequestContext,
  { bodyCut, bodyRate }: WireBreakage,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const length = Number(context.request.headers['content-length'] ?? 0);
  const at = bodyCut && placeWhileReading(bodyCut.at, length);
  const bytes = breakBytes(chunks, { cut: at && { at, how: 'fin' }, bytesPerSecond: bodyRate });
  for await (const piece of bytes) yield Buffer.from(piece.buffer, piece.byteOffset, piece.length);
  if (bodyCut === undefined) return;
  const error = new AnswerCut(connectionEnding(bodyCut.how));
  context.thrown = { error, at: 'faults.body' };
  throw error;
}

/** How long the whole is has to be known before it was read; of what is sent in chunks, one byte is read. */
function placeWhileReading(at: CutPoint | undefined, length: number): CutPlace {
  if (at?.bytes !== undefined) return { bytes: at.bytes };
  return { bytes: Math.max(1, Math.floor(length * (at?.fraction ?? 0.5))) };
}

/** Returns the code with which the request is refused in the state of `code`; undefined if not refused. */
export function stateRefusal(
  { operation, purpose, target, world }: RequestContext,
  code: ProblemCode,
): ProblemCode | undefined {
  const { id, subject, errors, reads, purposeOf } = operation;
  // Before the step `purpose`, only a query can decide the purpose, because the body was not read.
  const known = purpose ?? (reads === 'json' ? undefined : purposeOf?.(new URLSearchParams(target.query), undefined));
  const { effect } = known ?? operation;
  return refusalByCode(code, { id, subject, errors, effect }, world.variants);
}

const GIT_SERVICES: Readonly<Record<string, 'upload-pack' | 'receive-pack'>> = {
  gitUploadPack: 'upload-pack',
  gitReceivePack: 'receive-pack',
};

/** A request as faults see it: what its context has found so far. */
export class ContextFacts implements RequestFacts {
  constructor(private readonly context: RequestContext) {}

  get id(): string {
    return this.context.id;
  }

  get operation(): FaultedOperation {
    return this.context.operation;
  }

  get organization(): string {
    return this.context.organizationName;
  }

  /** Until the token is verified, what the path names. */
  get repository(): string | undefined {
    const { claims, params } = this.context;
    return claims ? claims.repo : params.repo_name;
  }

  get token(): TokenFacts | undefined {
    const { verified } = this.context;
    if (!verified) return undefined;
    const { claims, key, kid, payload } = verified;
    return { sub: claims.sub, kid, alg: key.algorithm, scopes: claims.scopes, claims: payload };
  }

  get method(): string {
    return this.context.request.method!;
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.context.target.query);
  }

  get body(): unknown {
    return this.context.json;
  }

  get git(): RequestFacts['git'] {
    const { id } = this.operation;
    const phase = id === 'gitInfoRefs' ? 'advertise' : 'rpc';
    const asked = this.query.get('service') === 'git-receive-pack' ? 'receive-pack' : 'upload-pack';
    const service = phase === 'advertise' ? asked : GIT_SERVICES[id];
    if (service === undefined) return undefined;
    const [, version] = /(?:^|:)version=([12])(?:$|:)/.exec(this.header('git-protocol') ?? '') ?? [];
    return { service, phase, protocol: version === undefined ? 0 : version === '1' ? 1 : 2 };
  }

  get scenario(): string | undefined {
    return this.context.scenario;
  }

  get connection(): string {
    return this.context.connection;
  }

  header(name: string): string | undefined {
    return this.context.header(name);
  }

  isInTheWay(code: ProblemCode): boolean {
    return STATES_BY_CODE[code] === undefined || stateRefusal(this.context, code) !== undefined;
  }
}
