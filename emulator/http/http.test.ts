import t from 'tap';
import type { OperationId } from '../config/operation-ids.js';
import { DEFAULT_VARIANTS } from '../config/variants.js';
import { type Operation, operation } from '../operation/operation.js';
import { decodeBase64 } from './base64.js';
import { parseJson } from './body.js';
import { respondConditionally } from './conditional.js';
import { Cursors } from './cursor.js';
import { readLines } from './ndjson.js';
import { type Problem, problemCodes } from './problem.js';
import { json } from './reply.js';
import { parseQuery, parseRequestTarget } from './request-target.js';
import { renderProblem } from './respond.js';
import { type MethodNotAllowed, Router } from './router.js';

/** The code a call refuses with, or `passed`. */
function codeOf(call: () => unknown): string {
  try {
    call();
    return 'passed';
  } catch (error) {
    return (error as Problem).code ?? String(error);
  }
}

t.test('every status without a specific code carries the generic code the specification lists', async (t) => {
  const generic: Record<number, string> = {
    400: 'bad_request',
    401: 'unauthorized',
    403: 'forbidden',
    404: 'not_found',
    405: 'method_not_allowed',
    408: 'request_timeout',
    409: 'conflict',
    412: 'precondition_failed',
    413: 'payload_too_large',
    422: 'unprocessable_entity',
    429: 'rate_limited',
    499: 'request_canceled',
    500: 'internal_error',
    501: 'not_implemented',
    502: 'bad_gateway',
    503: 'service_unavailable',
    504: 'gateway_timeout',
  };
  for (const [status, code] of Object.entries(generic)) {
    t.match(
      problemCodes().find((row) => row.code === code),
      { status: Number(status) },
      code,
    );
  }
});

t.test('a request target is read in one form only', async (t) => {
  t.same(parseRequestTarget('/api/repos?limit=1&x=?'), { path: '/api/repos', query: 'limit=1&x=?' });
  for (const raw of ['', 'http://evil/api', '//evil/api', '/a#b', '/a\\b', '/a b', '/a\x00', '/caf\u00e9', '*']) {
    t.equal(
      codeOf(() => parseRequestTarget(raw)),
      'bad_request',
      JSON.stringify(raw),
    );
  }
});

t.test('a query is form-encoded, decoded once, and never guessed', async (t) => {
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

const row = (id: OperationId, ...routes: Operation['routes']): Operation =>
  operation({
    id,
    group: 'Files',
    summary: id,
    routes,
    scopes: [],
    subject: 'repository',
    effect: 'read',
    replies: {},
    errors: [],
    handle: () => json(200, {}),
  }) as unknown as Operation;

t.test('routes match by segment, and a segment is decoded exactly once', async (t) => {
  const router = new Router([
    row('getRepository', { method: 'GET', path: '/api/repos/{repo_name}' }),
    row('deleteRepository', { method: 'DELETE', path: '/api/repos/{repo_name}' }),
    row('readFile', { method: 'GET', path: '/api/repos/{repo_name}/file' }),
    row('listRepositories', { method: 'GET', path: '/api/repos' }),
  ]);
  t.match(router.match('GET', '/api/repos/a%2Fb'), {
    operation: { id: 'getRepository' },
    params: { repo_name: 'a/b' },
  });
  t.match(router.match('GET', '/api/repos/a%252Fb'), { params: { repo_name: 'a%2Fb' } });
  t.match(router.match('HEAD', '/api/repos/x/file'), { operation: { id: 'readFile' } });
  t.match(router.match('GET', '/api/repos/__proto__'), { params: { repo_name: '__proto__' } });
  for (const path of [
    '/api/repos/a/b',
    '/api/repos/',
    '/api/repos//file',
    '/api/repos/x/file/',
    '/API/repos',
    '/',
    '/api',
  ]) {
    t.equal(
      codeOf(() => router.match('GET', path)),
      'route_not_found',
      path,
    );
  }
  for (const path of ['/api/repos/%zz', '/api/repos/%ff', '/api/repos/%c0%af', '/api/repos/a%00']) {
    t.equal(
      codeOf(() => router.match('GET', path)),
      'bad_request',
      path,
    );
  }
  try {
    router.match('POST', '/api/repos/x');
    t.fail('POST is not a method of the route');
  } catch (error) {
    t.equal((error as MethodNotAllowed).allow, 'GET, HEAD, DELETE');
  }
});

t.test('lines are framed by bytes, whatever the chunks', async (t) => {
  const split = async (text: string, size: number, limit = 100): Promise<string[]> => {
    const body = Buffer.from(text);
    const chunks = (async function* () {
      for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
    })();
    const lines: string[] = [];
    for await (const line of readLines(chunks, () => limit)) lines.push(line.toString());
    return lines;
  };
  for (const size of [1, 2, 3, 100]) {
    t.same(await split('{"a":1}\r\n\n{"b":"\u00e9"}', size), ['{"a":1}', '{"b":"\u00e9"}'], `chunks of ${size}`);
  }
  await t.rejects(split('x'.repeat(101), 7), { code: 'bad_request' });
  t.same(await split(`${'x'.repeat(100)}\n`, 7), ['x'.repeat(100)], 'a line of exactly the limit passes');
  await t.rejects(split('\n'.repeat(1_002), 64), { code: 'bad_request' }, 'blank lines are not free');
});

t.test('base64 is taken exactly as RFC 4648 writes it', async (t) => {
  for (const text of ['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar']) {
    t.equal(decodeBase64(Buffer.from(text).toString('base64'), 'data').toString(), text);
  }
  for (let byte = 0; byte < 256; byte++) {
    const one = Buffer.from([byte]);
    t.ok(decodeBase64(one.toString('base64'), 'data').equals(one));
  }
  const bad = [
    'a',
    'aGVs bG8=',
    'aGVs!bG8=',
    'aGVsbG8==',
    '_-8=',
    '====',
    'a===',
    '=aaa',
    'aa=a',
    'aGVsbG9=',
    'aGVsbH==',
    'data:,a',
    'aGVs\nbG8=',
  ];
  for (const data of bad)
    t.equal(
      codeOf(() => decodeBase64(data, 'data')),
      'bad_request',
      data,
    );
  const full = Buffer.alloc(4 * 1024 * 1024, 7);
  t.ok(decodeBase64(full.toString('base64'), 'data').equals(full), 'a full 4 MiB chunk does not exhaust the stack');
});

t.test('JSON has to be UTF-8, without a mark, and of bounded depth', async (t) => {
  t.same(parseJson(Buffer.from('{"a":"\u00e9[{"}'), 'x'), { a: '\u00e9[{' });
  t.equal(
    codeOf(() => parseJson(Buffer.from([0x22, 0xff, 0x22]), 'x')),
    'bad_request',
  );
  t.equal(
    codeOf(() => parseJson(Buffer.from('\ufeff{}'), 'x')),
    'bad_request',
  );
  t.equal(
    codeOf(() => parseJson(Buffer.from('{'), 'x')),
    'bad_request',
  );
  t.equal(
    codeOf(() => parseJson(Buffer.from('['.repeat(64) + ']'.repeat(64)), 'x')),
    'passed',
  );
  t.equal(
    codeOf(() => parseJson(Buffer.from('['.repeat(65) + ']'.repeat(65)), 'x')),
    'bad_request',
  );
  t.equal(
    codeOf(() => parseJson(Buffer.from('['.repeat(5_000_000)), 'x')),
    'bad_request',
  );
});

t.test('a cursor is good for the list it was issued for, and for nothing else', async (t) => {
  const cursors = new Cursors(Buffer.from('secret'));
  const cursor = cursors.write('list a', { after: 'x' });
  t.same(cursors.read('list a', cursor), { after: 'x' });
  t.equal(
    codeOf(() => cursors.read('list b', cursor)),
    'bad_request',
  );
  t.equal(
    codeOf(() => new Cursors(Buffer.from('other')).read('list a', cursor)),
    'bad_request',
  );
  const longest = [1_700_000_000_000, '\u00ff'.repeat(4096)];
  t.same(cursors.read('list a', cursors.write('list a', longest)), longest, 'after the longest name of a ref');
  for (let length = 1; length <= 6; length++) {
    const issued = cursors.write('list a', 'x'.repeat(length));
    t.equal(cursors.read('list a', issued), 'x'.repeat(length));
    for (const more of ['A', 'AA', 'x', '_'])
      t.equal(
        codeOf(() => cursors.read('list a', issued + more)),
        'bad_request',
      );
  }
  for (const bad of [
    '',
    '20',
    cursor.slice(0, -1),
    `${cursor}A`,
    cursor.replace(/./, (c) => (c === 'A' ? 'B' : 'A')),
    'x'.repeat(1_000_000),
    '\u00e9',
  ]) {
    t.equal(
      codeOf(() => cursors.read('list a', bad)),
      'bad_request',
      bad.slice(0, 40),
    );
  }
});

t.test('conditions and ranges follow RFC 9110', async (t) => {
  const representation = { etag: '"abc"', lastModified: 1_000_000, body: Buffer.from('0123456789'), headers: {} };
  const ask = (
    headers: Record<string, string>,
    method = 'GET',
  ): { status: number; bytes?: Uint8Array; headers?: object } => {
    try {
      return respondConditionally(representation, (name) => headers[name], method);
    } catch (error) {
      const { status, options } = error as Problem;
      return { status, headers: options.headers! };
    }
  };
  const before = new Date(999_999_000).toUTCString();
  const after = new Date(1_000_001_000).toUTCString();
  const exact = new Date(1_000_000_000).toUTCString();
  const cases: [Record<string, string>, number, string?][] = [
    [{}, 200, '0123456789'],
    [{ 'if-none-match': '"abc"' }, 304],
    [{ 'if-none-match': 'W/"abc"' }, 304],
    [{ 'if-none-match': '"x", "abc"' }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"x"' }, 200],
    [{ 'if-match': '"x"' }, 412],
    [{ 'if-match': 'W/"abc"' }, 412],
    [{ 'if-match': '"abc"' }, 200],
    [{ 'if-match': '*' }, 200],
    [{ 'if-modified-since': exact }, 304],
    [{ 'if-modified-since': before }, 200],
    [{ 'if-none-match': '"x"', 'if-modified-since': after }, 200],
    [{ 'if-unmodified-since': before }, 412],
    [{ 'if-unmodified-since': exact }, 200],
    [{ 'if-unmodified-since': 'garbage' }, 200],
    [{ range: 'bytes=2-4' }, 206, '234'],
    [{ range: 'bytes=7-' }, 206, '789'],
    [{ range: 'bytes=-3' }, 206, '789'],
    [{ range: 'bytes=-30' }, 206, '0123456789'],
    [{ range: 'bytes=8-100' }, 206, '89'],
    [{ range: 'bytes=10-' }, 416],
    [{ range: 'bytes=-0' }, 416],
    [{ range: 'bytes=4-2' }, 200],
    [{ range: 'items=1-2' }, 200],
    [{ range: 'bytes=0-1,4-5' }, 200],
    [{ range: 'bytes=0-1', 'if-range': '"abc"' }, 206, '01'],
    [{ range: 'bytes=0-1', 'if-range': '"x"' }, 200],
    [{ range: 'bytes=0-1', 'if-range': exact }, 206, '01'],
    [{ range: 'bytes=0-1', 'if-range': before }, 200],
  ];
  for (const notDate of [
    '1970',
    '2030-01-01T00:00:00Z',
    '1 Jan 2030',
    'Thu, 01 Jan 2030 00:00:00',
    'Tue, 01 Jan 2030 00:00:00 +0000',
    'tue, 01 jan 2030 00:00:00 gmt',
    'Tue, 32 Jan 2030 00:00:00 GMT',
    'Tue, 01 Jan 2030 24:00:00 GMT',
    'Sun, 30 Feb 2030 00:00:00 GMT',
    '',
    '*',
  ]) {
    cases.push([{ 'if-modified-since': notDate }, 200], [{ 'if-unmodified-since': notDate }, 200]);
    cases.push([{ range: 'bytes=0-1', 'if-range': notDate }, 200, '0123456789']);
  }
  // RFC 9110, 5.6.7: a recipient has to read the two obsolete forms as well.
  for (const [form, earlier] of [
    ['Monday, 12-Jan-70 13:46:40 GMT', 'Monday, 12-Jan-70 13:46:39 GMT'],
    ['Mon Jan 12 13:46:40 1970', 'Mon Jan 12 13:46:39 1970'],
  ] as const) {
    cases.push([{ 'if-modified-since': form }, 304], [{ 'if-modified-since': earlier }, 200]);
    cases.push([{ 'if-unmodified-since': form }, 200], [{ 'if-unmodified-since': earlier }, 412]);
    cases.push([{ range: 'bytes=0-1', 'if-range': form }, 206, '01']);
  }
  // RFC 9110, 13.2.2: the order.
  cases.push(
    [{ 'if-match': '"x"', 'if-none-match': '"abc"', range: 'bytes=10-' }, 412],
    [{ 'if-match': '"abc"', 'if-unmodified-since': before }, 200],
    [{ 'if-match': '"abc"', 'if-none-match': '"abc"', range: 'bytes=10-' }, 304],
    [{ 'if-unmodified-since': before, 'if-modified-since': after }, 412],
    [{ 'if-none-match': '"x"', range: 'bytes=10-' }, 416],
    [{ range: 'bytes=10-', 'if-range': '"x"' }, 200],
    [{ range: 'bytes=0-1', 'if-range': 'W/"abc"' }, 200],
  );
  for (const [headers, status, body] of cases) {
    const reply = ask(headers);
    t.equal(reply.status, status, JSON.stringify(headers));
    if (body !== undefined) t.equal(Buffer.from(reply.bytes!).toString(), body);
  }
  // RFC 9110, 14.2: Range is defined for GET; conditions are for HEAD as well.
  for (const [headers, status] of cases) {
    const reply = ask(headers, 'HEAD');
    t.equal(reply.status, status === 206 || status === 416 ? 200 : status, `HEAD ${JSON.stringify(headers)}`);
    t.notOk('content-range' in reply.headers!, 'HEAD has no part');
  }
  t.match(ask({ range: 'bytes=10-' }).headers, { 'content-range': 'bytes */10' });
  t.match(ask({ range: 'bytes=2-4' }).headers, { 'content-range': 'bytes 2-4/10' });
});

t.test('one error, in every dialect', async (t) => {
  const { problem } = await import('./problem.js');
  const refusal = problem('conflict', 'It moved.', { result: { commit: null, result: { success: false } } });
  const render = (dialect: 'problem' | 'error' | 'result' | 'git', error = refusal) =>
    renderProblem(error, { dialect, path: '/api/x', variants: DEFAULT_VARIANTS, forgePrefix: 'forge' });
  t.match(render('problem'), {
    status: 409,
    json: {
      type: 'about:blank',
      title: 'Conflict',
      status: 409,
      detail: 'It moved.',
      error: 'It moved.',
      instance: '/api/x',
      code: 'conflict',
    },
    headers: { 'content-type': 'application/problem+json' },
  });
  t.same(render('error').json, { error: 'It moved.' });
  t.same(render('result').json, { commit: null, result: { success: false } });
  t.equal(Buffer.from(render('git').bytes!).toString(), 'It moved.\n');
  t.match(
    render('result', problem('forbidden', 'No.')).json,
    { code: 'forbidden' },
    'gateway rejections stay problem details',
  );
  t.match(render('result', problem('bad_request', 'No.')).json, { code: 'bad_request' });
  const throttled = problem('rate_limited', 'Wait.', { headers: { 'retry-after': '1' } });
  t.match(render('error', throttled).json, { code: 'rate_limited' }, 'throttling precedes routing');
  t.same(
    render('error', problem('rate_limited', 'Too many.')).json,
    { error: 'Too many.' },
    'the tree limit is the operation’s own',
  );
});
