import t from 'tap';
import { parseQuery, parseRequestTarget } from './request-target.js';
import { codeOf } from './test/code-of.js';

t.test('only the origin-form of a request target is accepted', async (t) => {
  t.same(parseRequestTarget('/api/repos?limit=1&x=?'), { path: '/api/repos', query: 'limit=1&x=?' });
  for (const raw of ['', 'http://evil/api', '//evil/api', '/a#b', '/a\\b', '/a b', '/a\x00', '/caf\u00e9', '*']) {
    t.equal(
      codeOf(() => parseRequestTarget(raw)),
      'bad_request',
      JSON.stringify(raw),
    );
  }
});

t.test('a query is form-decoded once, and a repeated parameter is refused', async (t) => {
  t.same({ ...parseQuery('a=1+2&b=%2B&c=%252F&d&', []) }, { a: '1 2', b: '+', c: '%2F', d: '' });
  t.same({ ...parseQuery('path=a&path=b', ['path']) }, { path: ['a', 'b'] });
  t.equal(
    codeOf(() => parseQuery('a=1&a=2', [])),
    'bad_request',
  );
  t.equal(
    codeOf(() => parseQuery('a=%zz', [])),
    'bad_request',
  );
  t.equal(
    codeOf(() => parseQuery('a=%ff', [])),
    'bad_request',
  );
  t.equal(
    codeOf(() => parseQuery('a=%00', [])),
    'bad_request',
  );
  const polluted = parseQuery('__proto__=x', []);
  t.same(Object.entries(polluted), [['__proto__', 'x']]);
  t.equal(({} as Record<string, unknown>).x, undefined);
});
