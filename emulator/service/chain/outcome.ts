import { realClock } from '../../environment/clock.js';
import { StoreFull } from '../../git/memory/memory-budget.js';
import { ObjectTooLarge } from '../../git/pack/pack-error.js';
import { WorkLimitExceeded } from '../../git/schedule/meter.js';
import { ScheduleClosed } from '../../git/schedule/schedule.js';
import { Problem, problem } from '../../http/problem.js';
import type { Reply } from '../../http/reply.js';
import { renderProblem } from '../../http/respond.js';
import type { Exchange } from '../request-context.js';
import { applyCredentialVariants } from './credential-variants.js';

/** The answer to a request that a step or the handler refused. Nothing throws past this point. */
export function renderFailure(exchange: Exchange, error: unknown): Reply {
  const refusal = applyCredentialVariants(problemOf(exchange, error), exchange.operation?.id, exchange.world.variants);
  exchange.problem = refusal;
  const { variants, forgePrefix } = exchange.world;
  const dialect = exchange.operation?.dialect ?? 'problem';
  return renderProblem(refusal, {
    dialect,
    path: exchange.target?.path ?? '/',
    requestId: exchange.id,
    variants,
    forgePrefix,
  });
}

function problemOf(exchange: Exchange, error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof StoreFull)
    return problem('service_unavailable', error.message, { headers: { 'retry-after': '1' } });
  if (error instanceof ObjectTooLarge)
    return problem('payload_too_large', `An object of ${error.size} bytes is larger than ${error.limit} bytes.`);
  if (error instanceof WorkLimitExceeded)
    return problem('gateway_timeout', 'The request came to the limit of work before it was done.');
  if (error instanceof ScheduleClosed) return problem('service_unavailable', 'The emulator is shutting down.');
  if (isAbort(error) && exchange.signal.aborted) {
    // Nobody reads this answer; the journal shows it. Only file metadata has a status of its own for it.
    const isTimeout = exchange.operation?.errors?.includes('request_timeout') ?? false;
    return problem(isTimeout ? 'request_timeout' : 'request_canceled', 'The client went away before the answer.');
  }
  exchange.world.log.write({
    event: 'internal_error',
    request: exchange.id,
    operation: exchange.operation?.id,
    stack: error instanceof Error ? error.stack : String(error),
  });
  return problem('internal_error', `The request failed unexpectedly; the log names it ${exchange.id}.`);
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** Adds the headers every answer has, and the request's line in the journal and the log. */
export function recordOutcome(exchange: Exchange): void {
  const { world, faults, reply } = exchange;
  const now = world.clock.now();
  const headers: Record<string, string> = { ...reply.headers, 'x-request-id': exchange.id };
  // The machine's time Node adds by itself.
  if (world.clock !== realClock) headers.date = new Date(now).toUTCString();
  if (faults.fired.length > 0) headers['x-emulator-fault-fired'] = faults.fired.join(', ');
  exchange.reply = { ...reply, headers };
  const entry = {
    id: exchange.id,
    at: new Date(now).toISOString(),
    organization: exchange.organization?.name,
    method: exchange.request.method!,
    path: exchange.target?.path ?? '',
    operation: exchange.operation?.id,
    repository: exchange.claims?.repo,
    subject: exchange.claims?.sub,
    status: reply.status,
    code: exchange.problem?.code,
    origin: originOf(exchange),
    why: exchange.problem ? [...exchange.why, exchange.problem.detail] : exchange.why,
  };
  world.journal.add(entry);
  world.log.write({ event: 'request', ...entry });
}

function originOf({ faults, problem: refusal }: Exchange): string {
  if (faults.fired.length > 0) return `injected:${faults.fired[0]}`;
  return refusal?.code === 'repository_thawing' || refusal?.code === 'sync_in_progress' ? 'state' : 'real';
}
