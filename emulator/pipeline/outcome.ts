import { Rejection } from '../auth/rejection.js';
import { DEFAULT_VARIANTS } from '../config/variants.js';
import { NO_FAULTS } from '../faults/armed-request.js';
import { ObjectTooLarge } from '../git/pack/pack-error.js';
import { Problem, type ProblemCode, problem, shownCode } from '../http/problem.js';
import type { Reply } from '../http/reply.js';
import { dialectOf, renderProblem } from '../http/respond.js';
import { ResponseCut } from '../http/response-cut.js';
import type { KnownFacts, RequestRecord } from '../journal/record.js';
import { redactQuery, redactText } from '../journal/redaction.js';
import type { SentToken } from '../journal/sent-token.js';
import { stackOf } from '../log/log.js';
import { StoreFull } from '../memory/memory-budget.js';
import { WorkLimitExceeded } from '../schedule/meter.js';
import { ScheduleClosed } from '../schedule/schedule.js';
import { worldReplaced } from '../world/background.js';
import type { Switches } from '../world/organizations.js';
import { perturbProblem } from './adversary.js';
import { cutReply, InjectedReply } from './fault-actions.js';
import { recordRequest } from './record-request.js';
import { type RefusedRequest, wordRefusal } from './refusal-variants.js';
import { isLost, type RequestContext } from './request-context.js';
import { concernsAdmin } from './target.js';

/** Returns the response to a request that a step or handler refused by throwing `error`. Never throws. */
export function renderFailure(context: RequestContext, error: unknown): Reply {
  if (concernsAdmin(context)) return renderAdminFailure(context, error);
  if (error instanceof InjectedReply) return error.reply;
  if (error instanceof ResponseCut) return cutReply(context, error);
  const { variants, config } = context.world;
  const { forgePrefix } = config;
  context.refusal = problemOf(context, error);
  const refusal = wordRefusal(context.refusal, refusedRequest(context), variants);
  const dialect = context.operation?.dialect ?? 'problem';
  const isBent = context.adversary !== undefined && dialectOf(refusal, { dialect, variants }) === 'problem';
  context.problem = isBent ? perturbProblem(context, refusal) : refusal;
  return renderProblem(context.problem, {
    dialect,
    path: redactText(context.target?.path ?? '/'),
    requestId: context.id,
    variants,
    forgePrefix,
  });
}

function refusedRequest({ operation, request, claims, params }: RequestContext): RefusedRequest {
  const hasCredential = (request.headers.authorization ?? '').trim() !== '';
  return { operation, hasCredential, claims, named: params?.repo_name };
}

/**
 * Returns an error response of the admin API, with which tests control the emulator. It uses the default variants,
 * because configured variants apply only to the service.
 */
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
  // If a reset replaces the world (state of the emulator) during a write, the write may fail with any error. The client
  // should only learn about the reset.
  if (isLost(context)) return worldReplaced();
  if (error instanceof Problem) return error;
  if (error instanceof StoreFull)
    return problem('service_unavailable', `Memory limit (${error.limit} bytes) reached (--max-held-bytes).`, {
      headers: { 'retry-after': '1' },
    });
  if (error instanceof ObjectTooLarge)
    return problem('payload_too_large', `An object of ${error.size} bytes is larger than ${error.limit} bytes.`);
  if (error instanceof WorkLimitExceeded)
    return problem('gateway_timeout', 'The request reached its CPU time limit (--search-timeout, --work-timeout).');
  if (error instanceof ScheduleClosed) return problem('service_unavailable', 'The emulator is shutting down.');
  if (isAbort(error) && context.signal.aborted) {
    // The client has disconnected, so only the journal (list of all requests) shows this response. The specification
    // defines a status for this case only for file metadata.
    const isTimeout = context.operation?.errors?.includes('request_timeout') ?? false;
    return problem(isTimeout ? 'request_timeout' : 'request_canceled', 'The client disconnected before the response.');
  }
  context.world.engine.log.write({
    event: 'internal_error',
    request: context.id === '' ? undefined : context.id,
    operation: context.operation?.id,
    stack: stackOf(error),
  });
  const name = context.id === '' ? '' : `; its id in the log is ${context.id}`;
  return problem('internal_error', `The request failed unexpectedly${name}.`);
}

function isAbort(error: unknown): boolean {
  return (error as Error | null | undefined)?.name === 'AbortError';
}

/**
 * Adds the request to the journal (list of all requests) and to the log. Returns the headers that every response has.
 */
export function recordOutcome(context: RequestContext): Readonly<Record<string, string>> {
  const { world, faults } = context;
  const now = world.state.clock.now();
  const headers: Record<string, string> = { 'x-request-id': context.id };
  // Sets the `Date` header only if a test has set the clock. Otherwise, Node adds the header.
  if (!world.state.clock.isMachine) headers.date = new Date(now).toUTCString();
  if (faults.fired.length > 0) headers['x-emulator-fault-fired'] = faults.fired.join(', ');
  if (context.organization?.temporary) countRefusal(context);
  const ignored = ignoredOf(context);
  if (ignored.length > 0) headers['x-emulator-fault-ignored'] = ignored.join('; ').replaceAll(/[^ -~]/g, '?');
  context.record = recordRequest(world, describeRequest(context, now));
  if (!world.state.scenarios.isIdle) moveScenarios(context, context.record);
  return headers;
}

/**
 * Switches with which a test disables a part of an organization, by the error code of the resulting refusals.
 *
 * The switch for upstreams (external repositories) is missing, because it counts its refusals itself. It also makes
 * synchronizations fail, which are not requests.
 */
const SWITCHES: { readonly [Code in ProblemCode]?: keyof Switches } = {
  authentication_unavailable: 'authenticationAvailable',
  hosting_not_enabled: 'hostingEnabled',
  forge_app_not_configured: 'forgeApps',
};

/**
 * Counts a refused request for the switch that caused the refusal by disabling a part of the organization. Refusals by
 * a fault (simulated failure) are not counted.
 */
function countRefusal({ refusal, stopped, organization, world }: RequestContext): void {
  if (!refusal || stopped?.startsWith('faults.')) return;
  // If hosting is off, its scopes are unknown, so a token with such a scope is rejected. This rejection is counted for
  // the switch `hostingEnabled`.
  const isOfHosting = refusal instanceof Rejection && refusal.check === 'scopes';
  const by = isOfHosting ? 'hostingEnabled' : SWITCHES[refusal.code];
  if (by) world.state.organizations.countRefusal(organization.name, by);
}

/**
 * Returns the reasons why faults (simulated failures) or scenarios that the client asked for have no effect. Each
 * reason is one sentence.
 */
function ignoredOf(context: RequestContext): readonly string[] {
  const { faults, request, stopped } = context;
  if (faults === NO_FAULTS && stopped !== 'arming' && request.headers['x-emulator-fault'] !== undefined) {
    context.ignore(`X-Emulator-Fault has no effect: the request was refused before its faults were read`);
  }
  faults.end();
  return faults.ignored.length > 0 ? context.ignored.concat(faults.ignored) : context.ignored;
}

/**
 * Executes the scenario steps (scripted changes of the emulator) that this request triggers. They run before the
 * response is sent, so that the client's next request finds their effects.
 */
function moveScenarios(context: RequestContext, record: RequestRecord): void {
  const { world, organizationName, repositoryName, found, purpose, scenario } = context;
  if (!world.background.isCurrent) return;
  world.scenarios.answered({
    record,
    organization: organizationName,
    repository: found?.name ?? repositoryName,
    scenario,
    writes: purpose !== undefined && purpose.effect !== 'read',
  });
}

/** Approximate memory of a journal entry (record of one request), in bytes. Excludes its headers and bodies. */
const RECORD_WEIGHT = 512;

function describeRequest(context: RequestContext, now: number): KnownFacts {
  const { world, request, reply, target } = context;
  const { journal } = world.state;
  const head = journal.keepHead(request.rawHeaders);
  const token = describeToken(context);
  const sent = target ?? NO_TARGET;
  const path = journal.share(redactText(sent.path));
  const query = sent.query === '' ? '' : redactQuery(sent.query);
  return {
    id: context.id,
    time: now,
    took: now - context.began,
    organization: context.organization?.name,
    method: request.method ?? '',
    path,
    query,
    version: request.httpVersion,
    operation: context.operation?.id,
    token: token.shown,
    status: reply.status,
    code: codeOf(context),
    origin: originOf(context),
    faults: context.faults.fired,
    why: whyOf(context),
    stopped: context.stopped,
    git: context.git,
    head,
    weight: RECORD_WEIGHT + path.length + query.length + head.weight + token.weight,
    body: context.received,
    started: context.started,
  };
}

/** Returns the error code in the response; undefined if the request was not refused. */
function codeOf({ problem: refusal, world }: RequestContext): string | undefined {
  return refusal && (refusal.options.shownAs ?? shownCode(refusal.code, world.config.forgePrefix));
}

const NOTHING: readonly string[] = [];
const NO_TARGET = { path: '', query: '' };

/** Approximate memory of the description of a token, in bytes per character of the `Authorization` header. */
const TOKEN_WEIGHT = 2;

/**
 * Returns the description of the request's token (undefined if it has none), and its memory in bytes. The memory is 0
 * if an earlier request has the same description.
 */
function describeToken({ world, request, claims }: RequestContext): { shown: SentToken | undefined; weight: number } {
  const { tokens } = world.state.journal;
  const known = claims && tokens.known(claims);
  // Uses `request.headers`, in which Node keeps only the first of two `Authorization` headers.
  const { authorization } = request.headers;
  if (known || authorization === undefined) return { shown: known, weight: 0 };
  const shown = claims ? tokens.ofClaims(claims, authorization) : tokens.of(authorization);
  return { shown, weight: TOKEN_WEIGHT * authorization.length };
}

function whyOf(context: RequestContext): readonly string[] {
  const { why, faults, problem: refusal } = context;
  const { reasons } = faults;
  if (!refusal && why.length === 0 && reasons.length === 0) return NOTHING;
  // Returns the list of reasons without a copy if it cannot grow any more, so that journal entries can share it.
  // Otherwise, returns a copy.
  if (!refusal && why.length === 0 && !faults.isArmed) return reasons;
  const said = why.concat(reasons);
  return refusal ? whyRefused(context, said, refusal) : said;
}

function whyRefused({ refusal }: RequestContext, why: readonly string[], { detail }: Problem): readonly string[] {
  const said = redactText(detail);
  if (!(refusal instanceof Rejection)) return [...why, said];
  const check = `failed check ${refusal.check}`;
  return [...why, said, refusal.evidence === undefined ? check : `${check}: ${refusal.evidence}`];
}

/**
 * Error codes that always result from the state of an organization or repository. A refusal with a generic code has the
 * mark `isOfState` if such a state caused it.
 */
const STATE_CODES: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'authentication_unavailable',
  'repository_thawing',
  'repository_deleted',
  'sync_in_progress',
  'hosting_not_enabled',
  'forge_app_not_configured',
  'forge_repository_inaccessible',
]);

function originOf({ faults, problem: refusal }: RequestContext): string {
  const fault = faults.decisive ?? faults.fired[0];
  if (fault !== undefined) return `injected:${fault}`;
  return refusal && (refusal.options.isOfState || STATE_CODES.has(refusal.code)) ? 'state' : 'real';
}
