import { type Mutant, proxied } from '../mutant.js';
import { ANY, API, GREP, PACK } from '../places.js';
import { changesStatus, setsHeader, setsMember } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'err-gives-a-404-the-code-of-a-400',
    'err.generic-when-no-specific',
    'gives a 404 the code of a 400',
    setsMember(API, 'code', 'bad_request', 404),
    { beside: ['repo.get.404'] },
  ),
  proxied(
    'err-calls-a-problem-plain-json',
    'err.content-type',
    'calls a problem plain JSON',
    setsHeader(API, 'content-type', 'application/json', 404),
    { beside: ['repo.get.404'] },
  ),
  proxied('err-leaves-error-out', 'err.error-member', 'leaves error out', setsMember(API, 'error', undefined, 404), {
    beside: ['repo.get.404'],
  }),
  proxied('err-breaks-over-a-bad-pattern', 'err.5xx-safe', 'breaks over a bad pattern', changesStatus(GREP, 400, 500), {
    beside: ['grep.err.400.regex'],
  }),
  proxied(
    'err-invents-a-code-for-415',
    'err.status-text-snake',
    'invents a code for 415',
    setsMember(GREP, 'code', 'bad_encoding', 415),
  ),
  proxied(
    'err-takes-a-missing-scope-for-a-missing-token',
    'err.specific.insufficient_scope',
    'takes a missing scope for a missing token',
    changesStatus(GREP, 403, 401),
  ),
  proxied(
    'err-calls-a-stale-head-a-merge-conflict',
    'err.generic.409',
    'calls a stale head a merge conflict',
    setsMember(PACK, 'code', 'merge_conflict', 409),
  ),
  proxied(
    'err-calls-every-conflict-a-conflict',
    'err.specific.merge_conflict',
    'calls every conflict a conflict',
    setsMember(/merge$/, 'code', 'conflict', 409),
  ),
  proxied(
    'err-does-not-say-when-to-come-back',
    'err.thawing.retry-after',
    'does not say when to come back',
    setsHeader(ANY, 'retry-after', undefined, 409),
  ),
  proxied(
    'err-hides-that-there-is-no-hosting',
    'err.specific.hosting_not_enabled',
    'hides that there is no hosting',
    setsMember('POST /api/repos', 'code', 'forbidden', 403),
  ),
];
