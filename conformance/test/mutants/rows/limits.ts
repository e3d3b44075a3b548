import { type Mutant, proxied } from '../mutant.js';
import { BRANCHES, COMMITS, REPO, REPOS } from '../places.js';
import type { Rewrite } from '../proxy.js';
import { assumesParameter, changesJson, changesQuery, ignoresParameter, setsHeader, setsMember } from '../rewrites.js';

/**
 * Makes each later page of a list repeat its second item in place of its first. One item is therefore lost between two
 * pages.
 */
function loses(list: string) {
  return changesJson<Record<string, unknown>>(
    new RegExp(`^GET .*/${list}$`),
    (body, { request }) => {
      const items = body[list];
      if (Array.isArray(items) && request.path.includes('cursor=')) items.splice(0, 1, { ...items[1] });
    },
    200,
  );
}

/**
 * Changes the headers of 429 responses to clients that have used up their quota. 429 responses that a fault causes stay
 * the same.
 */
function ofUsedUpQuota(change: (headers: Record<string, string | string[]>) => void): Rewrite {
  return {
    response: ({ status, headers }) => {
      if (status === 429 && headers['x-emulator-fault-fired'] === undefined) change(headers);
    },
  };
}

const USES_UP_QUOTA = { beside: ['rate.429.retry-after.precedence'] };

export const rows: readonly Mutant[] = [
  proxied(
    'rate-has-no-ratelimit-for-a-used-up-quota',
    'rate.429.ratelimit#quota',
    'leaves RateLimit out if the quota is used up',
    ofUsedUpQuota((headers) => {
      delete headers.ratelimit;
    }),
    USES_UP_QUOTA,
  ),
  proxied(
    'rate-writes-minus-one-for-a-used-up-quota',
    'rate.429.ratelimit.r#quota',
    'has -1 as r if the quota is used up',
    ofUsedUpQuota((headers) => {
      headers.ratelimit = String(headers.ratelimit).replace('r=0', 'r=-1');
    }),
    USES_UP_QUOTA,
  ),
  proxied(
    'rate-writes-the-window-of-a-used-up-quota-as-text',
    'rate.429.ratelimit.t#quota',
    'writes t as text if the quota is used up',
    ofUsedUpQuota((headers) => {
      headers.ratelimit = String(headers.ratelimit).replace(/t=(\d+)/, 't="$1"');
    }),
    USES_UP_QUOTA,
  ),
  proxied(
    'rate-writes-units-after-a-used-up-quota',
    'rate.429.retry-after#quota',
    'writes a unit after the number in Retry-After if the quota is used up',
    ofUsedUpQuota((headers) => {
      headers['retry-after'] = `${headers['retry-after']}s`;
    }),
    USES_UP_QUOTA,
  ),
  proxied(
    'rate-writes-the-delay-in-milliseconds',
    'rate.429.retry-after.precedence#delay',
    'writes Retry-After in milliseconds',
    ofUsedUpQuota((headers) => {
      headers['retry-after'] = String(Number(headers['retry-after']) * 1000);
    }),
  ),
  proxied(
    'rate-writes-the-window-in-milliseconds',
    'rate.429.retry-after.precedence#window',
    'writes t in milliseconds',
    ofUsedUpQuota((headers) => {
      headers.ratelimit = String(headers.ratelimit).replace(/t=(\d+)/, 't=$1000');
    }),
  ),
  proxied(
    'rate-says-that-one-request-is-left',
    'rate.429.retry-after.precedence#nothing-left',
    'has 1 as r if the quota is used up',
    ofUsedUpQuota((headers) => {
      headers.ratelimit = String(headers.ratelimit).replace('r=0', 'r=1');
    }),
  ),
  ...Object.entries({
    branches: 'branches',
    tags: 'tags',
    commits: 'commits',
    'notes-refs': 'refs',
    deployments: 'deployments',
  }).map(([clause, list]) =>
    proxied(
      `limit-repeats-${clause}`,
      `limit.page.every-list#${clause}`,
      `has one item of the list of ${clause.replace('-', ' ')} twice and another not at all on further pages`,
      loses(list),
    ),
  ),
  proxied(
    'limit-has-no-default-after-a-cursor',
    'limit.list.default#with-cursor',
    'returns all further branches if the request has a cursor but no limit',
    changesQuery(BRANCHES, (query) => {
      if (query.has('cursor') && !query.has('limit')) query.set('limit', '100');
    }),
  ),
  proxied(
    'limit-ignores-limit-of-branches',
    'limit.page.every-list#limit',
    'does not look at limit in the list of branches',
    ignoresParameter(/^GET .*\/branches$/, 'limit'),
  ),
  proxied(
    'limit-shortens-commits-after-a-cursor',
    'limit.page.every-list#commit-members',
    'leaves the committer out of the commits on further pages',
    changesJson<{ commits: { committer_name?: string }[] }>(
      COMMITS,
      ({ commits }, { request }) => {
        if (request.path.includes('cursor=')) for (const commit of commits) delete commit.committer_name;
      },
      200,
    ),
  ),
  proxied(
    'limit-promises-more-after-an-exact-page',
    'limit.page.every-list#exact-end',
    'says that more tags follow if the page has as many items as limit says',
    changesJson<{ tags: unknown[]; has_more: boolean }>(
      /^GET .*\/tags$/,
      (body, { request }) => {
        if (request.path.includes(`limit=${body.tags.length}`)) body.has_more = true;
      },
      200,
    ),
  ),
  proxied(
    'rate-announces-its-policy',
    'rate.success.no-policy',
    'announces its policy',
    setsHeader(REPO, 'ratelimit-policy', '"default";q=5'),
    { beside: ['repo.get.route'] },
  ),
  proxied('limit-ignores-limit', 'limit.list.param', 'does not look at limit', ignoresParameter(REPOS, 'limit')),
  proxied(
    'limit-ignores-cursor',
    'limit.page.next_cursor',
    'does not look at cursor',
    ignoresParameter(REPOS, 'cursor'),
  ),
  proxied(
    'limit-does-not-say-that-nothing-follows-nothing',
    'limit.page.has_more#empty',
    'has no member has_more in an empty list of tags',
    changesJson<{ tags: unknown[]; has_more?: boolean }>(
      /^GET .*\/tags$/,
      (body) => {
        if (body.tags.length === 0) delete body.has_more;
      },
      200,
    ),
  ),
  proxied(
    'limit-always-promises-more',
    'limit.page.has_more',
    'always promises more',
    setsMember(COMMITS, 'has_more', true),
  ),
  proxied(
    'rate-does-not-say-when-to-come-back',
    'rate.429.retry-after',
    'does not say when to come back',
    setsHeader(REPO, 'retry-after', undefined, 429),
  ),
  proxied(
    'rate-has-no-ratelimit',
    'rate.429.ratelimit',
    'has no RateLimit',
    setsHeader(REPO, 'ratelimit', undefined, 429),
  ),
  proxied(
    'rate-does-not-name-its-window',
    'rate.429.ratelimit.t',
    'does not name its window',
    setsHeader(REPO, 'ratelimit', '"default";r=0', 429),
  ),
  proxied(
    'limit-lists-fifty-by-default',
    'limit.list.default',
    'lists fifty items unless asked',
    assumesParameter(REPOS, 'limit', '50'),
  ),
  proxied(
    'limit-loses-the-last-item',
    'limit.page.cursor',
    'leaves the last item out',
    changesJson<{ commits: unknown[]; has_more: boolean }>(
      COMMITS,
      ({ commits, has_more }) => {
        if (!has_more) commits.pop();
      },
      200,
    ),
  ),
  proxied(
    'rate-does-not-say-what-is-left',
    'rate.429.ratelimit.r',
    'does not say how much can be asked',
    setsHeader(REPO, 'ratelimit', '"default";t=1', 429),
  ),
  proxied(
    'rate-says-the-window-in-retry-after',
    'rate.429.retry-after.precedence',
    'says in Retry-After what it says in RateLimit',
    setsHeader(REPO, 'retry-after', '1', 429),
  ),
];
