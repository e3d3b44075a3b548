import t from 'tap';
import type { Exchange } from './exchange.js';
import { quotaOf, secondsOf, secondsToWait } from './throttling.js';

t.test('Retry-After is seconds or a date', async (t) => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  t.equal(secondsOf('12', now), 12);
  t.equal(secondsOf('Thu, 01 Jan 2026 00:00:30 GMT', now), 30);
  t.equal(secondsOf('Thu, 01 Jan 2025 00:00:30 GMT', now), 0);
  for (const odd of ['soon', '-1', '1.5', '', undefined]) t.equal(secondsOf(odd, now), undefined, String(odd));
});

function answerTo(path: string, status: number, headers: Exchange['headers'] = {}): Exchange {
  return {
    ...{ rule: 'a', method: 'GET', origin: 'http://127.0.0.1:1', path, status, headers, requestHeaders: {} },
    ...{ body: Buffer.from('{"code":"rate_limited"}'), milliseconds: 1, injected: false, git: false },
  };
}

t.test('a 429 means throttling; a 429 of file metadata only if it has Retry-After', async (t) => {
  const wait = (...given: Parameters<typeof answerTo>) => secondsToWait(answerTo(...given), 0);
  const own = ['/api/v1/repos/files/metadata', '/api/v1/repos/files/metadata?ref=x', '/api/repos/a%2Fb/files/metadata'];
  for (const path of own) {
    t.equal(wait(path, 429), undefined, path);
    t.equal(wait(path, 429, { 'retry-after': '3' }), 3, path);
    t.equal(wait(path, 429, { ratelimit: '"default";r=0;t=7' }), 7, path);
  }
  for (const path of ['/api/v1/repo', '/api/v1/repos/files', '/api/repos/files/metadata/branches']) {
    t.equal(wait(path, 429), 1, path);
  }
  t.equal(wait('/api/v1/repo', 200, { 'retry-after': '3' }), undefined);
});

t.test('a response announces a quota in one of several headers', async (t) => {
  const quota = (headers: Exchange['headers']) => quotaOf(answerTo('/api/v1/repo', 200, headers));
  t.same(quota({ ratelimit: '"default";r=50;t=30' }), { remaining: 50, seconds: 30 });
  t.same(quota({ ratelimit: '"hour";r=100;t=3600, "minute";r=50;t=30' }), { remaining: 100, seconds: 3600 });
  t.same(quota({ 'ratelimit-policy': '"default";q=100;w=60' }), { remaining: 100, seconds: 60 });
  t.same(quota({ 'ratelimit-policy': '"default";q=100;w=60', ratelimit: '"default";r=9;t=3' }), {
    ...{ remaining: 9, seconds: 3 },
  });
  const older = { 'ratelimit-limit': '100', 'ratelimit-remaining': '40', 'ratelimit-reset': '20' };
  t.same(quota(older), { remaining: 40, seconds: 20 });
  for (const odd of ['', 'x;;', '"default"', '"default";r=a;t=b']) t.equal(quota({ ratelimit: odd }), undefined, odd);
  t.equal(quota({ 'ratelimit-remaining': '-1', 'ratelimit-reset': '20' }), undefined);
});
