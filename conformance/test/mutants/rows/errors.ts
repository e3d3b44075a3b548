import { type Mutant, proxied } from '../mutant.js';
import { ANY, API, ARCHIVE, COMMIT, FILE, GREP, NOTES, PACK } from '../places.js';
import type { Rewrite } from '../proxy.js';
import { changesStatus, isAt, setsHeader, setsMember } from '../rewrites.js';

/**
 * Replaces the body of every 400 response to `place`. `write` returns the new body, given the `detail` of the old one.
 */
function refusesIn(place: string, type: string, write: (detail: string) => string): Rewrite {
  return {
    response: (response) => {
      if (!isAt(place, response.request) || response.status !== 400) return;
      const { detail } = JSON.parse(response.body.toString()) as { detail: string };
      response.body = Buffer.from(write(detail));
      response.headers['content-type'] = type;
    },
  };
}

/** Defines a wrong server that answers invalid requests to `place` with 400 and a body that is not a JSON object. */
function refuses(
  [name, place, beside]: readonly [name: string, place: string, beside: string],
  does: string,
  type: string,
  write: (detail: string) => string,
): Mutant {
  return proxied(name, 'err.error-member#object', does, refusesIn(place, type, write), { beside: [beside] });
}

const PROBLEM = 'application/problem+json';

export const rows: readonly Mutant[] = [
  refuses(
    ['err-refuses-a-note-in-plain-text', NOTES, 'note.sha.required'],
    'refuses a note in plain text',
    'text/plain',
    (detail) => detail,
  ),
  refuses(
    ['err-refuses-a-commit-without-a-body', PACK, 'pack.body.empty'],
    'refuses commit-pack with an empty body',
    PROBLEM,
    () => '',
  ),
  refuses(
    ['err-refuses-to-read-a-commit-in-html', COMMIT, 'commit.get.sha.missing'],
    'refuses to read a commit in HTML',
    'text/html',
    (detail) => `<p>${detail}</p>`,
  ),
  refuses(
    ['err-lists-what-is-wrong-with-an-archive', ARCHIVE, 'archive.err.400.json'],
    'refuses an archive with a list of problems',
    PROBLEM,
    (detail) => JSON.stringify([{ detail, error: detail }]),
  ),
  refuses(
    ['err-quotes-what-is-wrong-with-a-path', FILE, 'file.path.required'],
    'refuses to read a file with a JSON string',
    PROBLEM,
    (detail) => JSON.stringify(detail),
  ),
  proxied(
    'err-leaves-error-out-of-a-405',
    'err.error-member#present',
    'leaves error out of a 405',
    setsMember(API, 'error', undefined, 405),
    { beside: ['err.method'] },
  ),
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
