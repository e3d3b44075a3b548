import t from 'tap';
import { Rejection } from './rejection.js';

t.test('a rejection names its check in a sentence', async (t) => {
  t.equal(
    new Rejection('expired', 'exp is in the past').detail,
    'The token is invalid or expired: exp is in the past.',
  );
  t.equal(new Rejection('tenant', 'The credential is not valid for this tenant').isInvalidToken, false);
});

t.test('an invalid token is refused with the wording of the specification', async (t) => {
  const ofToken = [
    ...['structure', 'type', 'algorithm', 'critical', 'key-id', 'issuer', 'signature', 'subject', 'scopes', 'times'],
    ...['repo', 'policy', 'expired', 'not-yet-valid', 'restricted-key'],
  ] as const;
  for (const check of ofToken) {
    const { status, code, detail, isInvalidToken } = new Rejection(check, 'why');
    t.same([status, code, detail], [403, 'forbidden', 'The token is invalid or expired: why.'], check);
    t.ok(isInvalidToken, check);
  }
  const ofUse = ['repeated', 'missing', 'scheme', 'tenant', 'repo-missing', 'scope-missing'] as const;
  t.same(
    ofUse.map((check) => {
      const { status, code, detail, isInvalidToken } = new Rejection(check, 'why');
      return [status, code, detail, isInvalidToken];
    }),
    [
      [400, 'bad_request', 'why.', false],
      [401, 'unauthorized', 'why.', false],
      [401, 'unauthorized', 'why.', false],
      [403, 'forbidden', 'why.', false],
      [400, 'repo_claim_missing', 'why.', false],
      [403, 'insufficient_scope', 'why.', false],
    ],
  );
});
