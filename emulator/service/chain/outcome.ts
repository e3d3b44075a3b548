import { DEFAULT_VARIANTS } from '../../config/variants.js';
import { StoreFull } from '../../git/memory/memory-budget.js';
import { ObjectTooLarge } from '../../git/pack/pack-error.js';
import { WorkLimitExceeded } from '../../git/schedule/meter.js';
import { ScheduleClosed } from '../../git/schedule/schedule.js';
import { Problem, problem } from '../../http/problem.js';
import type { Reply } from '../../http/reply.js';
import { renderProblem } from '../../http/respond.js';
import { worldReplaced } from '../../world/background.js';
import { recordRequest } from '../record-request.js';
import { isLost, type RequestContext } from '../request-context.js';
import { applyCredentialVariants } from './credential-variants.js';
import { InjectedReply } from './fault-actions.js';
import { concernsAdmin } from './target.js';

/** The answer to a request that a step or the handler refused. Nothing throws past this point. */
export function renderFailure(context: RequestContext, error: unknown): Reply {
  if (concernsAdmin(context)) return renderAdminFailure(context, error);
  if (error instanceof InjectedReply) return error.reply;
  const { variants, config } = context.world;
  const { forgePrefix } = config;
  const refusal = applyCredentialVariants(problemOf(context, error), context.operation?.id, variants);
  context.problem = refusal;
  const dialect = context.operation?.dialect ?? 'problem';
  return renderProblem(refusal, {
    dialect,
    path: context.target?.path ?? '/',
    requestId: context.id,
    variants,
    forgePrefix,
  });
}

/** No variant of the service says how its emulator words refusals. */
function renderAdminFailure(context: RequestContext, error: unknown): Reply {
  const { forgePrefix } = context.world.config;
  const path = context.target?.path ?? '/';
  return renderProblem(problemOf(context, error), {
    dialect: 'problem',
    path,
    variants: DEFAULT_VARIANTS,
    forgePrefix,
  });
}

function problemOf(context: RequestContext, error: unknown): Problem {
  // A write fails in other ways too once its world has been replaced.
  if (isLost(context)) return worldReplaced();
  if (error instanceof Problem) return error;
  if (error instanceof StoreFull)
    return problem('service_unavailable', error.message, { headers: { 'retry-after': '1' } });
  if (error instanceof ObjectTooLarge)
    return problem('payload_too_large', `An object of ${error.size} bytes is larger than ${error.limit} bytes.`);
  if (error instanceof WorkLimitExceeded)
    return problem('gateway_timeout', 'The request came to the limit of work before it was done.');
  if (error instanceof ScheduleClosed) return problem('service_unavailable', 'The emulator is shutting down.');
  if (isAbort(error) && context.signal.aborted) {
    // The client is gone, so only the journal shows this answer. Only file metadata has a status of its own for it.
    const isTimeout = context.operation?.errors?.includes('request_timeout') ?? false;
    return problem(isTimeout ? 'request_timeout' : 'request_canceled', 'The client went away before the answer.');
  }
  context.world.engine.log.write({
    event: 'internal_error',
    request: context.id === '' ? undefined : context.id,
    operation: context.operation?.id,
    stack: error instanceof Error ? error.stack : String(error),
  });
  const name = context.id === '' ? '' : `; the log names it ${context.id}`;
  return problem('internal_error', `The request failed unexpectedly${name}.`);
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** Adds the request's line to the journal and the log. Returns the headers that every answer has. */
export function recordOutcome(context: RequestContext): Readonly<Record<string, string>> {
  const { world, faults, reply } = context;
  const now = world.state.clock.now();
  const headers: Record<string, string> = { 'x-request-id': context.id };
  // The machine's time Node adds by itself.
  if (!world.state.clock.isMachine) headers.date = new Date(now).toUTCString();
  if (faults.fired.length > 0) headers['x-emulator-fault-fired'] = faults.fired.join(', ');
  recordRequest(world, {
    id: context.id,
    time: now,
    organization: context.organization?.name,
    method: context.request.method ?? '',
    path: context.target?.path ?? '',
    operation: context.operation?.id,
    repository: context.claims?.repo,
    subject: context.claims?.sub,
    status: reply.status,
    code: context.problem?.options.shownAs ?? context.problem?.code,
    origin: originOf(context),
    why: whyOf(context),
  });
  return headers;
}

function whyOf({ why, faults, problem: refusal }: RequestContext): readonly string[] {
  if (faults.reasons.length === 0 && !refusal) return why;
  return refusal ? [...why, ...faults.reasons, refusal.detail] : [...why, ...faults.reasons];
}

function originOf({ faults, problem: refusal }: RequestContext): string {
  if (faults.fired.length > 0) return `injected:${faults.decisive ?? faults.fired[0]}`;
  return refusal?.code === 'repository_thawing' || refusal?.code === 'sync_in_progress' ? 'state' : 'real';
}
