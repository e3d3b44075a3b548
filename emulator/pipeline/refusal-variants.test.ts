import t from 'tap';
import { reject } from '../auth/rejection.js';
import { OPERATION_IDS, type OperationId } from '../config/operation-ids.js';
import { DEFAULT_VARIANTS, parseVariants } from '../config/variants.js';
import { problem } from '../http/problem.js';
import { type RefusedRequest, wordRefusal } from './refusal-variants.js';

const request = (id: OperationId | undefined): RefusedRequest => ({
  operation: id === undefined ? undefined : { id, group: id.startsWith('git') ? 'Git' : 'Other' },
  hasCredential: true,
  claims: { repo: 'a', scopes: [] },
  named: undefined,
});

const expired = reject('expired', 'exp is in the past');
const unscoped = reject('scope-missing', 'git:read is needed');
const unclaimed = reject('repo-missing', 'repo is missing');

/**
 * Returns the ids of the operations that refuse a token with 401 if the variant is `endpoint-table`. The specification
 * contradicts itself: tables of some endpoints list 401, and its section on token failures has 403.
 */
function refusedBy401(variant: 'invalidToken' | 'missingScope', refusal: typeof expired): string[] {
  const variants = parseVariants({ [variant]: 'endpoint-table' });
  return OPERATION_IDS.filter((id) => wordRefusal(refusal, request(id), variants).status === 401).sort();
}

t.test('the tables of seven endpoints list an invalid token under 401, and of four a missing scope', async (t) => {
  t.same(refusedBy401('invalidToken', expired), [
    'commitPack',
    'fileMetadata',
    'getCommit',
    'getRepository',
    'readFile',
    'restoreCommit',
    'writeNote',
  ]);
  t.same(refusedBy401('missingScope', unscoped), ['commitPack', 'getCommit', 'readFile', 'writeNote']);
  t.same(refusedBy401('missingScope', expired), [], 'each variant is about its own refusal');
  t.same(refusedBy401('invalidToken', unscoped), []);
});

t.test('a search is 403 with each value of the variant', async (t) => {
  for (const invalidToken of ['403', 'endpoint-table', '401'] as const) {
    t.equal(wordRefusal(expired, request('grep'), parseVariants({ invalidToken })), expired, invalidToken);
  }
});

t.test('a 401 names both schemes, so that git asks for another password', async (t) => {
  const challenge = 'Bearer, Basic realm="git"';
  for (const id of [undefined, 'archive', 'readFile'] as const) {
    const refusal = wordRefusal(expired, request(id), parseVariants({ invalidToken: '401' }));
    t.match(refusal, { code: 'unauthorized', detail: expired.detail });
    t.equal(refusal.options.headers?.['www-authenticate'], challenge, `${id}`);
  }
  const scope = wordRefusal(unscoped, request('readFile'), parseVariants({ missingScope: 'endpoint-table' }));
  t.match(scope, { code: 'unauthorized', detail: unscoped.detail });
  t.equal(scope.options.headers?.['www-authenticate'], challenge);
  const table = parseVariants({ invalidToken: 'endpoint-table' });
  t.equal(wordRefusal(expired, request(undefined), table), expired, 'without an operation there is no table');
});

t.test('the variant changes only the status of a missing repo claim', async (t) => {
  const variants = parseVariants({ missingRepoClaim: '403', invalidToken: '401' });
  t.match(wordRefusal(unclaimed, request('readFile'), variants), { code: 'forbidden', detail: unclaimed.detail });
  t.equal(wordRefusal(unscoped, request('readFile'), variants), unscoped);
  const other = problem('forbidden', 'No.');
  t.equal(wordRefusal(other, request('readFile'), variants), other);
  for (const refusal of [expired, unscoped, unclaimed]) {
    t.equal(wordRefusal(refusal, request('readFile'), DEFAULT_VARIANTS), refusal, refusal.check);
  }
});
