import t from 'tap';
import { type Claims, requireRepo, requireScopes } from './claims.js';
import { failure } from './test/failure.js';

t.test('scope and repository of an operation', async (t) => {
  const claims = { scopes: ['git:write', 'org:read'] } as unknown as Claims;
  t.equal(
    failure(() => requireScopes(claims, ['git:write'])),
    undefined,
  );
  t.equal(
    failure(() => requireScopes(claims, [])),
    undefined,
  );
  t.match(
    failure(() => requireScopes(claims, ['git:write', 'git:read'])),
    {
      status: 403,
      code: 'insufficient_scope',
      detail: 'The token lacks the scope git:read.',
      isInvalidToken: false,
    },
  );
  t.match(
    failure(() => requireRepo(claims)),
    { status: 400, code: 'repo_claim_missing' },
  );
  t.equal(requireRepo({ ...claims, repo: 'a' }), 'a');
});
