import { type Parameters, parseList } from 'structured-headers';
import { getRepo, listCommits, listRepos, ORG_READER, reader } from '../../api/requests.js';
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
import { AssertionFailure, Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { tryAgain } from '../../check/try-again.js';
import { sampleContent } from '../../fixtures/content.js';
import { historyRepository } from '../../fixtures/history.js';
import { longListsRepository } from '../../fixtures/long-lists.js';
import { createNamedRepository, sampleRepository } from '../../fixtures/repositories.js';
import { type Exchange, headerOf, isRecord, type JsonRecord } from '../../http/exchange.js';
import { secondsOf } from '../../http/throttling.js';
import { operationOf, routeOf } from '../companion/call-operation.js';
import { FAMILIES } from '../companion/test-repository.js';
import { DOCUMENTED_ROUTES, requestLine } from '../documented-operations.js';
import { defineRules, leftOpen, on, rulesBy, type Watch } from '../rule.js';
import { everyPlace, forEachPlace } from '../token-places.js';

/** Possible names of the array with the items of a list response. Needed if the response has more than one array. */
const ITEMS = ['repos', 'repositories', 'branches', 'commits', 'tags', 'items', 'data'];

/**
 * Returns the items of a list response. They are in its only array of objects, or in the array whose name is in
 * `ITEMS`.
 */
function itemsOf(response: ApiResponse): readonly JsonRecord[] {
  const arrays = Object.entries(response.record()).filter(([, value]) => Array.isArray(value) && value.every(isRecord));
  const found = arrays.length === 1 ? arrays[0] : arrays.find(([name]) => ITEMS.includes(name));
  if (found === undefined) throw new AssertionFailure('the response must have an array of items', 1, arrays.length);
  return found[1] as JsonRecord[];
}

type Lister = (query: Record<string, string>) => Promise<ApiResponse>;

/**
 * Returns functions that request lists with at least two items, so that each list has two pages of one item. If the
 * suite may write, it creates the items. Otherwise shorter lists are left out.
 */
async function listsOfTwo(t: RuleContext): Promise<Lister[]> {
  const { name } = t.target.write ? await historyRepository(t) : await sampleContent(t);
  if (t.target.write) await sampleRepository(t);
  const lists = [listing((query) => listCommits(t, name, query)), listing((query) => listRepos(t, query))];
  if (t.target.write) return lists;
  const long = [];
  for (const list of lists) if (itemsOf(await list({})).length > 1) long.push(list);
  if (long.length === 0) throw new Skip('needs two commits on the default branch, or two repositories');
  return long;
}

/** Returns a function that requests a list and expects status 200. */
function listing(list: Lister): Lister {
  return async (query) => {
    const response = expectStatus(await list(query), 200);
    return response;
  };
}

/**
 * Returns the member that identifies a list item. Rules compare only this member, because other members may differ
 * between responses.
 */
function idOf(item: JsonRecord | undefined): unknown {
  return item?.sha ?? item?.repo_id ?? item?.url;
}

/** Returns the name of a branch or tag, or the SHA of a commit. It is unique in its list. */
function nameOf(item: JsonRecord): unknown {
  return item.name ?? item.sha;
}

/** Operations whose lists have a default page size of 20 on both `/api/repos` and `/api/v1`. */
const LISTS = ['list repositories', 'list branches', 'list commits', 'list tags'].map(operationOf);

const MAX_PAGES = 100;

/**
 * Requests a list page by page, up to the last page or `MAX_PAGES`. Each request has the cursor of the previous
 * response. `limit`: page size.
 */
async function follow(list: Lister, limit: string) {
  const pages: ApiResponse[] = [];
  let cursor: string | undefined;
  do {
    const response = expectStatus(await list(cursor === undefined ? { limit } : { limit, cursor }), 200);
    pages.push(response);
    cursor = response.boolean('has_more') ? response.string('next_cursor') : undefined;
  } while (cursor !== undefined && pages.length < MAX_PAGES);
  return { pages, items: pages.flatMap((one) => [...itemsOf(one)]), isComplete: cursor === undefined };
}

export const lists = defineRules('Limits', 'lists', [
  {
    id: 'limit.list.param',
    says: 'limit is the maximum number of items on a page; has_more says whether more items follow.',
    check: async (t) => {
      for (const list of await listsOfTwo(t)) {
        const response = await list({ limit: '1' });
        expectSame(itemsOf(response).length, 1, 'the page must have one item');
        expectSame(response.boolean('has_more'), true, 'has_more must be true while items remain');
      }
    },
  },
  {
    id: 'limit.list.default',
    says: 'A list without limit returns 20 items.',
    reach: 'needs-setup',
    writes: true,
    check: async (t) => {
      for (let index = 0; index < 21; index++) await createNamedRepository(t, t.uniqueName());
      const repo = await longListsRepository(t);
      for (const [list, family] of LISTS.flatMap((list) => FAMILIES.map((family) => [list, family] as const))) {
        const line = requestLine(list, family);
        if (!DOCUMENTED_ROUTES.has(line) && !t.target.companion) continue;
        const as = list.scopes.includes('org:read') ? ORG_READER : reader(repo);
        const response = expectStatus(await t.get(routeOf(list, family, repo) ?? '', { as }), 200);
        expectSame(itemsOf(response).length, 20, `${line}: the page must have 20 items`);
        expectSame(response.boolean('has_more'), true, `${line}: has_more must be true`);
      }
    },
  },
  leftOpen(
    'limit.list.cap',
    'The specification does not say how a list treats a limit that is too large, zero, negative or not a number.',
    async (t) => {
      for (const limit of ['100000', '0', '-1', 'x', '1.5']) {
        const response = await listRepos(t, { limit });
        const size = (count: number) => `${count > 100 ? 'above' : 'up to'} 100 items`;
        t.observe(limit, response.status === 200 ? `200, ${size(itemsOf(response).length)}` : response.outcome);
      }
    },
  ),
  {
    id: 'limit.page.cursor',
    says: 'Following the cursor to the end returns every item exactly once.',
    alone: true,
    check: on(historyRepository, async (t, { name }) => {
      const commits = await follow((query) => listCommits(t, name, query), '1');
      expectSame(commits.items.length, 3, 'the list must have three commits');
      expectSame(new Set(commits.items.map(({ sha }) => sha)).size, 3, 'the list must not repeat a commit');
      await tryAgain(async () => {
        const { items, isComplete } = await follow((query) => listRepos(t, query), '50');
        const own = items.map(({ url }) => String(url)).filter((url) => url.startsWith(t.run.prefix));
        expectSame(new Set(own).size, own.length, 'the list must not repeat a repository');
        const isThere = items.some(({ url }) => url === name);
        if (isComplete) expectTrue(isThere, 'the list must include the repository of the suite that has a history');
      });
    }),
  },
  {
    id: 'limit.page.has_more',
    says: 'has_more is true on every page except the last.',
    check: on(historyRepository, async (t, { name }) => {
      const { pages } = await follow((query) => listCommits(t, name, query), '1');
      const more = pages.map((one) => one.boolean('has_more'));
      expectSame(more, [true, true, false], 'has_more must be true on every page but the last');
    }),
  },
  {
    id: 'limit.page.next_cursor',
    says: 'next_cursor, sent as cursor, returns the next page.',
    check: async (t) => {
      for (const list of await listsOfTwo(t)) {
        await tryAgain(async () => {
          const first = await list({ limit: '1' });
          const second = await list({ limit: '1', cursor: first.string('next_cursor') });
          expectSame(itemsOf(second).length, 1, 'the second page must have one item');
          expectOther(
            idOf(itemsOf(second)[0]),
            idOf(itemsOf(first)[0]),
            'the second page must not repeat the item of the first page',
          );
        });
      }
    },
  },
  {
    id: 'limit.page.every-list',
    says: 'The lists of branches, tags and commits of a repository take limit and cursor, in both families of routes.',
    clauses: {
      limit: 'Every page but the last has as many items as limit says.',
      branches: 'The pages of the list of branches have every branch once.',
      tags: 'The pages of the list of tags have every tag once.',
      commits: 'The pages of the list of commits have every commit once.',
      'exact-end': 'If the remaining items fit exactly on a page, has_more is false.',
    },
    reach: 'needs-setup',
    writes: true,
    check: on(longListsRepository, async (t, repo) => {
      for (const [list, family] of LISTS.flatMap((list) => FAMILIES.map((family) => [list, family] as const))) {
        const line = requestLine(list, family);
        if (list.scopes.includes('org:read') || !(DOCUMENTED_ROUTES.has(line) || t.target.companion)) continue;
        const path = routeOf(list, family, repo) ?? '';
        const lister: Lister = (query) => t.get(path, { as: reader(repo), query });
        const count = list.name === 'list branches' ? 22 : 21;
        const exact = count === 22 ? 11 : 7;
        const { pages, items } = await follow(lister, '8');
        const names = items.map(nameOf);
        expectSame([names.length, new Set(names).size], [count, count], `${line}: the pages must have ${count} items`);
        const sizes = pages.map((page) => itemsOf(page).length);
        expectSame(sizes, [8, 8, count - 16], `${line}: every page but the last must have 8 items`);
        const full = await follow(lister, String(exact));
        expectSame(full.items.map(nameOf), names, `${line}: the size of the pages must not change the list`);
        expectSame(full.pages.length, count / exact, `${line}: has_more must be false if the last page is full`);
      }
    }),
  },
  leftOpen(
    'limit.page.invalid-cursor',
    'The specification does not say how a list treats a cursor that it never issued.',
    async (t) => t.observe('cursor x', await listRepos(t, { cursor: 'x' })),
  ),
  leftOpen(
    'limit.page.next_cursor.end',
    'The specification does not say what next_cursor is on the last page.',
    historyRepository,
    async (t, { name }) => {
      const response = await listCommits(t, name, { limit: '100' });
      expectSame(response.find('has_more'), false, 'has_more must be false on the last page');
      const cursor = response.find('next_cursor');
      t.observe('next_cursor', cursor === undefined ? 'absent' : cursor);
    },
  ),
]);

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
 * Returns true if the response reports throttling. File metadata is left out: it also uses 429 for too many distinct
 * commits, without these headers (A14).
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
    reach: 'emulator',
    writes: true,
    check: (t) =>
      // Use a namespace (isolated state of the emulator) with its own fixed clock. Both requests must fall into one
      // rate limit window of one minute, and only this rule moves that clock.
      inNamespace(t, { clock: new Date(t.run.now()).toISOString() }, async (inner) => {
        const { name } = await sampleRepository(inner);
        const read = () => getRepo(inner, name, { wantsThrottling: true });
        await askAdmin(inner, 'PATCH', '/quotas', { quotas: { conformance: { capacity: 2, refill: '2/60s' } } });
        for (const _ of ['first', 'second']) expectStatus(await read(), 200);
        const refused = await read();
        const { parameters } = rateOf(refused);
        const after = refused.header('retry-after');
        const seconds = secondsOf(after) ?? 0;
        expectTrue(seconds > 0, 'Retry-After must be in the future', after);
        t.observe('Retry-After and t', [seconds, parameters.get('t')]);
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
