import t from 'tap';
import { keepHead, NO_HEAD, redactQuery, redactText } from './redaction.js';

const JWT = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl';

t.test('tokens, credentials and user information in a text are redacted', async (t) => {
  for (const [text, shown] of [
    [`Bearer ${JWT}`, 'Bearer [redacted]'],
    [`a ${JWT} b`, 'a [redacted] b'],
    ['https://u:canary@host/path?x=1', 'https://[redacted]@host/path?x=1'],
    [`https://t:${JWT}@host/r.git`, 'https://[redacted]@host/r.git'],
    ['https%3A%2F%2Fu%3Acanary%40host%2Fx', 'https%3A%2F%2F[redacted]%40host%2Fx'],
    ['{"url":"ssh://canary@host"}', '{"url":"ssh://[redacted]@host"}'],
    ['Authorization: Basic dDpjYW5hcnktY2FuYXJ5', 'Authorization: Basic [redacted]'],
  ] as const) {
    t.equal(redactText(text), shown);
  }
  for (const text of [
    '',
    '/api/repos/team%2Fapp',
    'ada@example.com',
    'http://host/a@b',
    'Basic realm="Git", charset="UTF-8"',
    'eyJ alone is no token',
    'bearer of news',
  ]) {
    t.equal(redactText(text), text, text);
  }
});

t.test('query parameters with secret names are redacted', async (t) => {
  t.equal(redactQuery('a=1&access_token=canary&b=2'), 'a=1&access_token=[redacted]&b=2');
  t.equal(redactQuery('TOKEN=canary'), 'TOKEN=[redacted]');
  t.equal(
    redactQuery('password=canary&api-key=canary&secret='),
    'password=[redacted]&api-key=[redacted]&secret=[redacted]',
  );
  t.equal(redactQuery('cursor=abc&sha=main&path=token'), 'cursor=abc&sha=main&path=token');
});

t.test('secret header fields are redacted, and equal headers are stored once', async (t) => {
  const raw = ['Host', 'h', 'Authorization', `Bearer ${JWT}`, 'Cookie', 'canary', 'X-Api-Key', 'canary', 'X-Y', JWT];
  const head = keepHead(raw, NO_HEAD);
  const shown = ['Host', 'h', 'Authorization', '[redacted]', 'Cookie', '[redacted]', 'X-Api-Key', '[redacted]'];
  t.same(head.fields, [...shown, 'X-Y', '[redacted]']);
  t.equal(keepHead([...raw], head), head);
  const other = [...raw];
  other[3] = 'Bearer other';
  t.equal(keepHead(other, head), head, 'headers that differ only in a secret are equal');
  for (const changed of [['Host', 'g', ...raw.slice(2)], raw.slice(0, 4), ['host', ...raw.slice(1)]]) {
    t.not(keepHead(changed, head), head);
  }
  const fields = ['Idempotency-Key', 'k', 'Git-Protocol', 'version=2', 'If-None-Match', '"a"'];
  t.same(keepHead(fields, NO_HEAD).fields, fields);
});
