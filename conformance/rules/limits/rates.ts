import { type Parameters, parseList } from 'structured-headers';
import { getRepo, listRepos } from '../../api/requests.js';
import { askAdmin, inNamespace } from '../../check/admin.js';
import type { ApiResponse } from '../../check/api-response.js';
import {
  expectMatch,
  expectOther,
  expectSame,
  expectStatus,
  expectTrue,
  isCount,
  RETRY_AFTER,
} from '../../check/expect.js';
import { AssertionFailure } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleRepository } from '../../fixtures/repositories.js';
import { type Exchange, headerOf } from '../../http/exchange.js';
import { secondsOf } from '../../http/throttling.js';
import { defineRules, leftOpen, rulesBy, type Watch } from '../rule.js';
import { everyPlace, forEachPlace } from '../token-places.js';

/**
 * Parses the `RateLimit` header of a throttled response (429). The header is a list of structured fields (RFC 9651).
 */
function rateOf(response: ApiResponse): { field: string; parameters: Parameters } {
  expectStatus(response, 429);
  const field = response.header('ratelimit');
  if (field === undefined) throw new AssertionFailure('the response must have RateLimit', 'a list', field);
  const parameters = parametersOf(field);
  if (parameters === undefined) throw new AssertionFailure('RateLimit must be a structured field', 'a list', field);
  return { field, parameters };
}

/**
 * Provokes a throttled response (429) at every place (endpoint to which a token can be sent), and calls `check` for
 * each response.
 */
function throttled(
  t: RuleContext,
  check: (rate: ReturnType<typeof rateOf>, response: ApiResponse) => void,
): Promise<void> {
  return forEachPlace(t, everyPlace, async ({ ask }) => {
    const response = await ask({}, { fault: 'rate_limited' });
    check(rateOf(response), response);
  });
}

/** Expects this parameter of the `RateLimit` header to be a non-negative integer. */
function expectCount({ parameters }: ReturnType<typeof rateOf>, name: string): void {
  const value = parameters.get(name);
  expectTrue(isCount(value), `${name} must be a non-negative integer`, value);
}

/**
 * Returns the parameters of the first item in a list of structured fields (RFC 9651). Returns undefined if the list is
 * invalid.
 */
function parametersOf(field: string): Parameters | undefined {
  try {
    return parseList(field)[0]?.[1];
  } catch {
    return undefined;
  }
}

/**
 * Returns true if the response reports throttling. Excludes file metadata, which also responds with 429 if there are too
 * many distinct commits. That response has no rate limit headers (A14).
 */
function isThrottled({ status, path }: Exchange): boolean {
  return status === 429 && !path.includes('/files/metadata');
}

/** Returns the value of a parameter in the response's `RateLimit` header. Returns undefined if absent. */
function parameterOf(exchange: Exchange, name: string): unknown {
  return parametersOf(headerOf(exchange, 'ratelimit') ?? '')?.get(name);
}

/**
 * Returns a function that judges every throttled response (429) of the run. `what` names the judged header or parameter
 * in the message.
 */
const watches429 =
  (what: string, isRight: (exchange: Exchange) => boolean): Watch =>
  (exchange) => {
    if (!isThrottled(exchange)) return undefined;
    return isRight(exchange) || `the 429 response of ${exchange.method} ${exchange.path} has no valid ${what}`;
  };

const WATCHES: Readonly<Record<string, Watch>> = {
  'rate.429.ratelimit': watches429(
    'RateLimit',
    (seen) => parametersOf(headerOf(seen, 'ratelimit') ?? '') !== undefined,
  ),
  'rate.429.ratelimit.r': watches429('r', (seen) => isCount(parameterOf(seen, 'r'))),
  'rate.429.ratelimit.t': watches429('t', (seen) => isCount(parameterOf(seen, 't'))),
  'rate.429.retry-after': watches429('Retry-After', (seen) => RETRY_AFTER.test(headerOf(seen, 'retry-after') ?? '')),
};

/** Number of seconds in which the quota of two requests is filled again. */
const REFILL = 60;
/** Maximum number of seconds in `Retry-After` and `t`. A larger number shows that the value is in milliseconds. */
const LONGEST = 10 * REFILL;

const EVERY_429 = { quota: 'A 429 for a client that has used up its quota has it as well.' };

export const rates = defineRules('Limits', 'rates', [
  ...rulesBy(
    throttled,
    [
      [
        'rate.429.ratelimit',
        'A 429 has the header RateLimit.',
        ({ field }) => expectOther(field, '', 'the field must not be empty'),
      ],
      [
        'rate.429.ratelimit.r',
        'r in RateLimit is the number of requests that are allowed at once.',
        (rate) => expectCount(rate, 'r'),
      ],
      [
        'rate.429.ratelimit.t',
        't in RateLimit is the length of the window in seconds.',
        (rate) => expectCount(rate, 't'),
      ],
      [
        'rate.429.retry-after',
        'Retry-After of a 429 is the minimum delay before the next request.',
        (_, response) =>
          expectMatch(response.header('retry-after'), RETRY_AFTER, 'Retry-After must be seconds or a date'),
      ],
    ],
    { writes: 'where-allowed', reach: 'emulator', clauses: EVERY_429 },
  ).map((row) => ({ ...row, ...(WATCHES[row.id] && { watch: WATCHES[row.id] }) })),
  {
    id: 'rate.429.retry-after.precedence',
    says: 'A request sent after the delay in Retry-After succeeds, whatever t says.',
    clauses: {
      delay: 'Retry-After is in seconds, and at most ten times as long as the quota needs to be filled again.',
      window: 't is in seconds, and at most ten times as long as the quota needs to be filled again.',
      'nothing-left': 'r is 0 in the refusal of a client that has used up its quota.',
    },
    reach: 'emulator',
    writes: true,
    check: (t) =>
      // Use a namespace (isolated state of the emulator) with its own fixed clock. Both requests must fall into one
      // rate limit window of one minute, and only this rule moves that clock.
      inNamespace(t, { clock: new Date(t.run.now()).toISOString() }, async (inner) => {
        const { name } = await sampleRepository(inner);
        const read = () => getRepo(inner, name, { wantsThrottling: true });
        await askAdmin(inner, 'PATCH', '/quotas', { quotas: { conformance: { capacity: 2, refill: `2/${REFILL}s` } } });
        for (const _ of ['first', 'second']) expectStatus(await read(), 200);
        const refused = await read();
        const { parameters } = rateOf(refused);
        const after = refused.header('retry-after');
        const seconds = secondsOf(after) ?? 0;
        expectTrue(seconds > 0, 'Retry-After must be in the future', after);
        expectTrue(seconds <= LONGEST, `Retry-After must be at most ${LONGEST} seconds`, after);
        const [left, window] = [parameters.get('r'), parameters.get('t')];
        t.observe('Retry-After and t', [seconds, window]);
        expectTrue(Number(window) <= LONGEST, `t must be at most ${LONGEST} seconds`, window);
        expectSame(left, 0, 'r must be 0 if the quota is used up');
        await askAdmin(inner, 'PATCH', '/clock', { advance: `PT${seconds}S` });
        expectStatus(await read(), 200);
      }),
  },
  {
    id: 'rate.success.no-policy',
    says: 'No successful response has RateLimit-Policy.',
    watch: (exchange) => {
      if (exchange.status > 299) return undefined;
      return (
        headerOf(exchange, 'ratelimit-policy') === undefined || `the response of ${exchange.path} has RateLimit-Policy`
      );
    },
  },
  leftOpen(
    'rate.success.ratelimit',
    'The specification does not say whether a successful response has RateLimit.',
    async (t) => t.observe('RateLimit', (await listRepos(t)).header('ratelimit') ?? 'none'),
  ),
]);
