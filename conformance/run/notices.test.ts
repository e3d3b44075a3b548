import t from 'tap';
import type { Exchange } from '../http/exchange.js';
import { MissingRoutes } from './notices.js';

type Seen = readonly [rule: string, line: string, status: number, code?: string];

function noticesOf(seen: readonly Seen[]): string[] {
  const missing = new MissingRoutes();
  for (const [rule, line, status, code] of seen) {
    const [method = '', path = ''] = line.split(' ');
    const exchange: Exchange = {
      ...{ rule, method, path, status, origin: 'http://127.0.0.1:1', requestHeaders: {}, headers: {} },
      ...{ body: Buffer.from(JSON.stringify({ code })), milliseconds: 1, injected: false, git: false },
    };
    missing.see(exchange);
  }
  return missing.notices();
}

const GREP = 'POST /api/v1/repos/grep';
const MISSING = ['route_not_found'] as const;

t.test(
  'a documented route that a target does not have is reported once, with the number of rules that used it',
  async (t) => {
    const seen: Seen[] = [
      ['a', GREP, 404, ...MISSING],
      ['b', GREP, 404, ...MISSING],
      ['b', GREP, 404, ...MISSING],
      ['c', GREP, 401, 'unauthorized'],
      ['a', 'GET /api/repos/one/branches?limit=1', 404, ...MISSING],
      ['a', 'GET /api/repos/two%2Fthree/branches', 404, ...MISSING],
    ];
    t.same(noticesOf(seen), [
      'POST /api/v1/repos/grep always returns route_not_found; used by 3 rules',
      'GET /api/repos/{repo_name}/branches always returns route_not_found; used by 1 rule',
    ]);
  },
);

t.test('a route with any other response exists, and undocumented routes may be missing', async (t) => {
  t.same(
    noticesOf([
      ['a', GREP, 404, ...MISSING],
      ['b', GREP, 404, ...MISSING],
      ['c', GREP, 200],
    ]),
    [],
  );
  t.same(
    noticesOf([
      ['a', GREP, 404, 'repository_not_found'],
      ['b', GREP, 404, 'ref_not_found'],
    ]),
    [],
  );
  t.same(
    noticesOf([
      ['a', 'PUT /api/v1/repos/grep', 404, ...MISSING],
      ['b', 'PUT /api/v1/repos/grep', 404, ...MISSING],
    ]),
    [],
  );
});
