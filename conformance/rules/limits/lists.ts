import { listCommits, listRepos, ORG_READER, reader, repositoryPath, writer } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import {
  expectMatch,
  expectOther,
  expectSame,
  expectStatus,
  expectSuccess,
  expectTime,
  expectTrue,
} from '../../check/expect.js';
import { AssertionFailure, Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { tryAgain } from '../../check/try-again.js';
import { sampleContent } from '../../fixtures/content.js';
import { historyRepository } from '../../fixtures/history.js';
import { longListsRepository } from '../../fixtures/long-lists.js';
import { createNamedRepository, sampleRepository } from '../../fixtures/repositories.js';
import { pushRefs } from '../../git/refs.js';
import { isRecord, type JsonRecord } from '../../http/exchange.js';
import { operationOf, routeOf } from '../companion/call-operation.js';
import type { Operation } from '../companion/operation.js';
import { FAMILIES, TestRepository } from '../companion/test-repository.js';
import { DOCUMENTED_ROUTES, requestLine } from '../documented-operations.js';
import { defineRules, leftOpen, on } from '../rule.js';

/** Possible names of the array with the items of a list response. Needed if the response has more than one array. */
const ITEMS = ['repos', 'repositories', 'branches', 'commits', 'tags', 'refs', 'deployments', 'items', 'data'];

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

/** Returns the id of a deployment, the name of a branch, tag or notes ref, or the SHA of a commit. */
function nameOf(item: JsonRecord): unknown {
  return item.id ?? item.name ?? item.ref ?? item.sha;
}

/** Operations whose lists have a default page size of 20 on both `/api/repos` and `/api/v1`. */
const LISTS = ['list repositories', 'list branches', 'list commits', 'list tags'].map(operationOf);

/** A list on one of its routes. */
interface ListRoute {
  readonly operation: Operation;
  /** Method and path of the route, as its name in reports. */
  readonly line: string;
  readonly list: Lister;
}

/** Returns every route of the operations that may be tried on the target. Each operation returns a list. */
function routesOf(t: RuleContext, repo: string, operations: readonly Operation[]): ListRoute[] {
  return operations.flatMap((operation) =>
    FAMILIES.flatMap((family) => {
      const path = routeOf(operation, family, repo);
      const line = requestLine(operation, family);
      if (path === undefined || !(DOCUMENTED_ROUTES.has(line) || t.target.companion)) return [];
      const as = operation.scopes.includes('org:read') ? ORG_READER : { repo, scopes: operation.scopes };
      return [{ operation, line, list: (query: Record<string, string>) => t.get(path, { as, query }) }];
    }),
  );
}

/** Expects a commit in a list to have every member of a commit record. */
function expectCommitRecord(commit: JsonRecord): void {
  for (const role of ['author', 'committer']) {
    for (const member of [`${role}_name`, `${role}_email`]) expectMatch(commit[member], /./, `${member} of a commit`);
  }
  expectMatch(commit.sha, /^[0-9a-f]{40}$/, 'sha of a commit');
  expectMatch(commit.message, /./, 'message of a commit');
  expectTime(commit.date, 'date of a commit');
}

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

/** Functions that create three items of a list in a repository. The keys are the names of the lists. */
const MAKE_THREE: Readonly<Record<string, (repository: TestRepository) => Promise<void>>> = {
  'list notes refs': async ({ t, name }) => {
    const { sha } = (await listCommits(t, name, { limit: '1' })).records('commits')[0] ?? {};
    const refs = ['one', 'two', 'three'].map((ref) => [`refs/notes/${ref}`, String(sha)]);
    await pushRefs(t, name, Object.fromEntries(refs), writer(name));
  },
  'list deployments': async (repository) => {
    await repository.ensureHosting();
    const { t, name } = repository;
    const as = { repo: name, scopes: ['deployment:write'] };
    for (let index = 0; index < 3; index++)
      expectSuccess(await t.post(`${repositoryPath(name)}/deployments`, { as, json: {}, mustSucceed: true }));
  },
};

/**
 * Checks the pages of lists that only published clients use. Compares the list in pages of two items with the list on
 * one page. A list is left out if the target does not let the suite create three items.
 */
async function pagesShortLists(t: RuleContext, repo: string): Promise<void> {
  const repository = new TestRepository(t, { name: repo });
  for (const [name, make] of Object.entries(MAKE_THREE)) {
    try {
      await make(repository);
      for (const { line, list } of routesOf(t, repo, [operationOf(name)])) {
        const whole = await list({ limit: '100' });
        if (whole.status !== 200 || itemsOf(whole).length < 3) throw new Skip(`three items could not be created`);
        const names = itemsOf(whole).map(nameOf);
        const { pages, items } = await follow(list, '2');
        expectSame(items.map(nameOf), names, `${line}: the pages must have every item once`);
        expectSame(itemsOf(pages[0] as ApiResponse).length, 2, `${line}: the first page must have 2 items`);
      }
    } catch (error) {
      if (!(error instanceof Skip)) throw error;
      t.observe(`left out: ${name}`, error.message);
    }
  }
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
    clauses: { 'with-cursor': 'A list with a cursor but without limit returns 20 items.' },
    reach: 'needs-setup',
    writes: true,
    check: async (t) => {
      for (let index = 0; index < 22; index++) await createNamedRepository(t, t.uniqueName());
      const repo = await longListsRepository(t);
      const tried = new Set<Operation>();
      for (const { operation, line, list } of routesOf(t, repo, LISTS)) {
        const response = expectStatus(await list({}), 200);
        expectSame(itemsOf(response).length, 20, `${line}: the page must have 20 items`);
        expectSame(response.boolean('has_more'), true, `${line}: has_more must be true`);
        // Try a cursor on one route of each list. At least 21 items follow the first one.
        if (tried.has(operation)) continue;
        tried.add(operation);
        const cursor = expectStatus(await list({ limit: '1' }), 200).string('next_cursor');
        const second = expectStatus(await list({ cursor }), 200);
        expectSame(itemsOf(second).length, 20, `${line}: the page after a cursor must have 20 items`);
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
    clauses: { empty: 'has_more is false if the list is empty.' },
    check: on(historyRepository, async (t, { name }) => {
      if (t.target.companion && t.target.write) {
        const { name: repo } = await sampleRepository(t);
        const none = await t.get(routeOf(operationOf('list tags'), 'preferred', repo) ?? '', { as: reader(repo) });
        expectSame(expectStatus(none, 200).boolean('has_more'), false, 'has_more must be false without tags');
        t.observe('no tags', none.find('tags') ?? 'absent or null');
      }
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
    says: 'Every list of a repository takes limit and cursor: branches, tags, commits, notes refs and deployments.',
    clauses: {
      limit: 'Every page but the last has as many items as limit says.',
      branches: 'The pages of the list of branches have every branch once.',
      tags: 'The pages of the list of tags have every tag once.',
      commits: 'The pages of the list of commits have every commit once.',
      'notes-refs': 'The pages of the list of notes refs have every notes ref once.',
      deployments: 'The pages of the list of deployments have every deployment once.',
      'commit-members': 'Each commit of each page has the members of a commit record.',
      'exact-end': 'If the remaining items fit exactly on a page, has_more is false.',
    },
    reach: 'needs-setup',
    writes: true,
    check: on(longListsRepository, async (t, repo) => {
      const ofRepository = LISTS.filter(({ scopes }) => !scopes.includes('org:read'));
      for (const { operation, line, list } of routesOf(t, repo, ofRepository)) {
        const { pages, items } = await follow(list, '8');
        const names = items.map(nameOf);
        expectSame([names.length, new Set(names).size], [22, 22], `${line}: the pages must have 22 items`);
        const sizes = pages.map((page) => itemsOf(page).length);
        expectSame(sizes, [8, 8, 6], `${line}: every page but the last must have 8 items`);
        if (operation.name === 'list commits') items.forEach(expectCommitRecord);
        const full = await follow(list, '11');
        expectSame(full.items.map(nameOf), names, `${line}: the size of the pages must not change the list`);
        expectSame(full.pages.length, 2, `${line}: has_more must be false if the last page is full`);
      }
      if (t.target.companion) await pagesShortLists(t, repo);
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
