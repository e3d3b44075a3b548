import { type Mutant, proxied } from '../mutant.js';
import { COMMITS, REPO, REPOS } from '../places.js';
import { assumesParameter, changesJson, ignoresParameter, setsHeader, setsMember } from '../rewrites.js';

export const rows: readonly Mutant[] = [
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
