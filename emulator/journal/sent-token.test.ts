import t from 'tap';
import { SentTokens } from './sent-token.js';

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const tokens = new SentTokens(Buffer.from('key'));
const describe = (header: unknown, claims: unknown, signature = 'c2lnbmF0dXJl') =>
  tokens.of(`Bearer ${encoded(header)}.${encoded(claims)}.${signature}`)!;

t.test('a token is described with all members of its header and all claims, but without its signature', async (t) => {
  const header = { alg: 'ES256', kid: 'key-1', typ: 'JWT' };
  const claims = {
    iss: 'demo',
    sub: 'ada',
    scopes: ['git:read'],
    repo: 'team/app',
    refs: [['refs/heads/*', ['no-push']]],
    ops: ['no-force-push'],
    iat: 1767225600,
    nbf: 1767225600,
    exp: 1767229200,
    emu: { faults: ['rate_limited'] },
  };
  const described = describe(header, claims);
  t.same(described.header, header);
  t.same(described.claims, claims);
  t.match(described, { verified: false, subject: 'ada', repository: 'team/app', expires: '2026-01-01T01:00:00.000Z' });
  t.notMatch(JSON.stringify(described), 'c2lnbmF0dXJl');
  const basic = Buffer.from(`t:${encoded(header)}.${encoded(claims)}.c2ln`).toString('base64');
  t.same(tokens.of(`Basic ${basic}`)!.claims, claims);
});

t.test('secrets in claims are redacted, and entries cannot change the claims', async (t) => {
  const inner = `${encoded({ alg: 'ES256' })}.${encoded({ sub: 'canary' })}.Y2FuYXJ5`;
  const { claims, header } = describe(
    { alg: 'none', api_key: 'canary' },
    {
      sub: `see ${inner}`,
      [inner]: 1,
      nested: [{ password: 'canary', url: 'https://ada:canary@host/' }],
      access_token: { value: 'canary' },
      note: 'Bearer canary-canary',
    },
  );
  t.same(header, { alg: 'none', api_key: '[redacted]' });
  t.same(claims, {
    sub: 'see [redacted]',
    '[redacted]': 1,
    nested: [{ password: '[redacted]', url: 'https://[redacted]@host/' }],
    access_token: '[redacted]',
    note: 'Bearer [redacted]',
  });
  t.throws(() => Object.assign(claims!, { sub: 'x' }), TypeError);
  t.throws(() => (claims!.nested as unknown[]).push(1), TypeError);
});

t.test('a token that is not a readable JWT has no claims', async (t) => {
  for (const authorization of ['Bearer opaque', 'Bearer a.b.c', `Bearer ${encoded([1])}.${encoded('text')}.x`]) {
    const described = tokens.of(authorization)!;
    t.equal(described.verified, false);
    t.notOk('claims' in described, authorization);
    t.notOk('header' in described, authorization);
  }
  const deep = `${'['.repeat(12_000)}${']'.repeat(12_000)}`;
  const nested = `{"a":${deep}}`;
  t.ok(tokens.of(`Bearer x.${Buffer.from(nested).toString('base64url')}.x`), 'deeply nested claims are no problem');
});
