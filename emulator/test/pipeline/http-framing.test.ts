import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { GivenOptions } from '../../config/options.js';
import { converse, type RawResponse, sendRaw } from '../raw-http.js';
import { packBody, type Service, startService } from '../service.js';
import { stateDigest } from '../world/state-digest.js';

// Tests malformed HTTP messages. The server must answer each with one response in its usual error format.

async function setUp(t: Test, options: GivenOptions = {}) {
  const service = await startService(options);
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.seed('team/app');
  const token = await service.token({ repo: 'team/app' });
  return { service, token, authorization: `Authorization: Bearer ${token}\r\n` };
}

const HOST = 'Host: localhost\r\n';
const GENERIC: Readonly<Record<number, string>> = {
  400: 'bad_request',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  417: 'expectation_failed',
  431: 'request_header_fields_too_large',
  501: 'not_implemented',
};

/**
 * Asserts that a response refuses the request. It must have problem details with the generic code, a Content-Length,
 * and a request id that is in the journal (list of recorded requests).
 */
function isRefusal(t: Test, service: Service, response: RawResponse | undefined, status: number, what: string): void {
  t.equal(response?.status, status, what);
  if (!response) return;
  t.equal(response.headers['content-type'], 'application/problem+json', what);
  t.ok(Number.isFinite(Date.parse(response.headers.date ?? '')), `${what}: Date`);
  const body = JSON.parse(response.body);
  t.match(body, { status, code: GENERIC[status], type: 'about:blank' }, what);
  t.equal(body.error, body.detail, what);
  if (response.headers['x-request-id'] === undefined) {
    t.match(what, /_emulator|own routes/, `${what}: only requests to the emulator's own routes are in no journal`);
    return;
  }
  const entries = service.emulator.requests().filter(({ id }) => id === response.headers['x-request-id']);
  t.match(entries, [{ status, code: GENERIC[status], why: [body.detail] }], `${what}: one line in the journal`);
}

t.test('a transfer coding must be chunked, once, and alone', async (t) => {
  const { service, authorization } = await setUp(t);
  const before = stateDigest(service.world);
  const smuggled = `DELETE /api/v1/repos/delete HTTP/1.1\r\n${HOST}${authorization}\r\n`;
  const chunks = `2\r\n{}\r\n0\r\n\r\n${smuggled}`;
  const rows: [fields: string, status: number, version?: string][] = [
    ['Transfer-Encoding: gzip\r\n', 400],
    ['Transfer-Encoding: identity\r\n', 400],
    ['Transfer-Encoding: chunked, gzip\r\n', 400],
    ['Transfer-Encoding: chunked, identity\r\n', 400],
    ['Transfer-Encoding: xchunked\r\n', 400],
    ['Transfer-Encoding: chunkedx\r\n', 400],
    ['Transfer-Encoding: chunked;a=b\r\n', 400],
    ['Transfer-Encoding: "chunked"\r\n', 400],
    ['Transfer-Encoding:\r\n', 400],
    ['Transfer-Encoding: ,\r\n', 400],
    ['Transfer-Encoding: chunked, chunked\r\n', 400],
    ['Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', 400],
    ['Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n', 400],
    ['Transfer-Encoding: gzip, chunked\r\n', 501],
    ['Transfer-Encoding: deflate, gzip, Chunked\r\n', 501],
    ['Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n', 501],
    ['Transfer-Encoding: chunked\r\nContent-Length: 2\r\n', 400],
    ['Content-Length: 2\r\nTransfer-Encoding: chunked\r\n', 400],
    ['Transfer-Encoding: gzip, chunked\r\nContent-Length: 2\r\n', 400],
    ['Transfer-Encoding: chunked\r\n', 400, 'HTTP/1.0'],
    ['Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n', 400, 'HTTP/1.0'],
  ];
  for (const [fields, status, version = 'HTTP/1.1'] of rows) {
    for (const line of [
      'POST /api/v1/repos/grep',
      'GET /api/v1/repo',
      'GET /_emulator/health',
      'GET /_emulator/version',
    ]) {
      const what = `${line} ${version} ${JSON.stringify(fields)}`;
      const { responses, end } = await sendRaw(
        service,
        `${line} ${version}\r\n${HOST}${authorization}${fields}\r\n${chunks}`,
      );
      t.equal(responses.length, 1, `${what}: one answer`);
      isRefusal(t, service, responses[0], status, what);
      t.equal(responses[0]?.headers.connection, 'close', what);
      t.equal(end, 'closed', `${what}: nothing more is read from it`);
    }
  }
  t.equal(stateDigest(service.world), before, 'no body became a request');
  for (const name of ['chunked', 'Chunked', ' chunked ', ', chunked']) {
    const text = `POST /api/v1/repos/grep HTTP/1.1\r\n${HOST}${authorization}Transfer-Encoding:${name}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`;
    const { responses } = await sendRaw(service, text, 1);
    t.match(responses, [{ status: 400, body: /query/ }], `${name} is read, and its body checked`);
  }
});

t.test('a request that Node’s parser refuses gets one response in the usual format', async (t) => {
  const { service, authorization } = await setUp(t);
  const get = (fields: string) => `GET /api/v1/repo HTTP/1.1\r\n${HOST}${authorization}${fields}\r\n`;
  const post = (fields: string, body: string) =>
    `POST /api/v1/repos/grep HTTP/1.1\r\n${HOST}${authorization}${fields}\r\n${body}`;
  const rows: [what: string, text: string, status?: number][] = [
    ['a field over two lines', get('X-A: b\r\n c\r\n')],
    ['a NUL', get('X-A: b\0c\r\n')],
    ['a name with a space', get('X A: b\r\n')],
    ['a space before the colon', get('X-A : b\r\n')],
    ['no colon', get('XA\r\n')],
    ['no name', get(': b\r\n')],
    ['a bare CR', get('X-A: b\rc\r\n')],
    ['a space before the first field', `GET / HTTP/1.1\r\n X: y\r\n${HOST}\r\n`],
    ['bare line feeds', `GET / HTTP/1.1\nHost: localhost\n\n`],
    ['too long a field', get(`X-A: ${'b'.repeat(20_000)}\r\n`), 431],
    ['too long a target', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`, 431],
    ['a length that is none', post('Content-Length: x\r\n', '')],
    ['a negative length', post('Content-Length: -1\r\n', '')],
    ['a length with a sign', post('Content-Length: +2\r\n', '{}')],
    ['a hexadecimal length', post('Content-Length: 0x2\r\n', '{}')],
    ['no length', post('Content-Length: \r\n', '')],
    ['a list of lengths', post('Content-Length: 2, 2\r\n', '{}')],
    ['two lengths', post('Content-Length: 2\r\nContent-Length: 2\r\n', '{}')],
    ['a length past all numbers', post('Content-Length: 99999999999999999999999\r\n', '{}')],
    ['a method that is none', `GARBAGE / HTTP/1.1\r\n${HOST}\r\n`],
    ['a method in lower case', `get / HTTP/1.1\r\n${HOST}\r\n`],
    ['HTTP/0.9', 'GET /\r\n\r\n'],
    ['HTTP/1.2', `GET / HTTP/1.2\r\n${HOST}\r\n`],
    ['HTTP/2.0 in the words of HTTP/1', `GET /api/v1/repo HTTP/2.0\r\n${HOST}${authorization}\r\n`],
    ['HTTP/2.0 of the emulator’s own routes', `GET /_emulator/health HTTP/2.0\r\n${HOST}\r\n`],
    ['HTTP/3', `GET / HTTP/3\r\n${HOST}\r\n`],
    ['the preface of HTTP/2', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0`],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ];
  for (const [what, text, status = 400] of rows) {
    const { responses, end } = await sendRaw(service, text);
    t.equal(responses.length, 1, `${what}: one answer`);
    isRefusal(t, service, responses[0], status, what);
    t.match(responses[0]?.headers, { connection: 'close' }, what);
    t.equal(end, 'closed', what);
  }
});

t.test('an invalid body gets one response and one journal entry', async (t) => {
  const { service, authorization } = await setUp(t);
  const { world } = service;
  const before = stateDigest(world);
  const bodies: [what: string, body: string, status?: number][] = [
    ['a chunk size that is none', 'zz\r\n{}\r\n0\r\n\r\n'],
    ['a chunk size past all numbers', 'fffffffffffffffff\r\n{}\r\n0\r\n\r\n'],
    ['a negative chunk size', '-2\r\n{}\r\n0\r\n\r\n'],
    ['a chunk longer than its size', '2\r\n{}{}\r\n0\r\n\r\n'],
    ['no size after the first chunk', '2\r\n{}\r\n\r\n'],
    ['endless extensions', `2;a=${'b'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`, 413],
  ];
  for (const [what, body, status = 400] of bodies) {
    for (const path of ['grep', 'commit-pack', 'restore-commit', 'diff-commit']) {
      for (const credential of [authorization, '']) {
        const head = `POST /api/v1/repos/${path} HTTP/1.1\r\n${HOST}${credential}Transfer-Encoding: chunked\r\n\r\n`;
        const recorded = [...world.state.journal.entries()].length;
        // Send each request twice: in one piece, and with the body later than the header.
        for (const isLate of [false, true]) {
          const { responses } = await converse(service, (socket) => {
            if (!isLate) socket.write(head + body);
            else socket.write(head, () => setImmediate(() => socket.write(body)));
          });
          t.equal(responses.length, 1, `${path}, ${what}: one answer`);
          if (credential === '') t.match(responses, [{ status: 401, body: /"unauthorized"/ }], 'what is decided, is');
          else isRefusal(t, service, responses[0], status, `${path}, ${what}`);
          t.equal(responses[0]?.headers.connection, 'close');
        }
        t.equal([...world.state.journal.entries()].length, recorded + 2, 'each is recorded once');
      }
    }
  }
  for (const service_ of ['git-upload-pack', 'git-receive-pack']) {
    const head = `POST /team/app.git/${service_} HTTP/1.1\r\n${HOST}${authorization}Content-Type: application/x-${service_}-request\r\nTransfer-Encoding: chunked\r\n\r\n`;
    for (const begun of ['', '4\r\n0032\r\n']) {
      const { responses, end } = await sendRaw(service, `${head}${begun}zz\r\n`);
      t.match(responses, [{ status: 400, headers: { 'content-type': /^text\/plain/, connection: 'close' } }], service_);
      t.equal(end, 'closed');
      t.match([...world.state.journal.entries()].at(-1), { status: 400, code: 'bad_request', why: [/chunk/] });
    }
  }
  t.equal(stateDigest(world), before);
});

t.test('data that arrives after a refusal does not disturb the response', async (t) => {
  const { service, authorization } = await setUp(t);
  for (const first of [
    'GARBAGE\r\n\r\n',
    `POST /api/v1/repos/grep HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip\r\n\r\n`,
    `GET /api/v1/repo HTTP/1.1\r\n${HOST}${authorization}Connection: close\r\n\r\n`,
    `GET /api/v1/repo HTTP/1.0\r\n${HOST}${authorization}\r\n`,
    `POST /api/v1/repos/grep HTTP/1.0\r\n${HOST}Content-Length: 3000000\r\n\r\n`,
  ]) {
    const { responses, end } = await converse(service, async (socket) => {
      socket.on('error', () => undefined);
      socket.write(first);
      for (let part = 0; part < 40 && !socket.destroyed; part++) {
        socket.write('x'.repeat(65_536));
        await sleep(2);
      }
    });
    t.equal(responses.length, 1, JSON.stringify(first));
    t.equal(end, 'closed', `${JSON.stringify(first)} is closed, not reset`);
  }
});

t.test('no request after one with Connection: close is executed', async (t) => {
  const { service, authorization } = await setUp(t);
  const before = stateDigest(service.world);
  const body = packBody({ late: 'late' });
  const write = `POST /api/v1/repos/commit-pack HTTP/1.1\r\n${HOST}${authorization}Content-Length: ${body.length}\r\n\r\n${body}`;
  for (const first of [
    `GET /api/v1/repo HTTP/1.1\r\n${HOST}${authorization}Connection: close\r\n\r\n`,
    `GET /api/v1/repo HTTP/1.0\r\n${HOST}${authorization}\r\n`,
    `GET /api/v1/repo HTTP/1.1\r\n${HOST}${authorization}Transfer-Encoding:\r\n\r\n`,
    `POST /api/v1/repos/grep HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    `GET /api/v1/repo HTTP/2.0\r\n${HOST}${authorization}Connection: keep-alive\r\n\r\n`,
    `CONNECT localhost:80 HTTP/1.1\r\n${HOST}\r\n`,
  ]) {
    const { responses, end } = await sendRaw(service, first + write);
    t.equal(responses.length, 1, JSON.stringify(first));
    t.equal(end, 'closed');
  }
  t.equal(stateDigest(service.world), before);
});

t.test('Expect: only 100-continue is supported', async (t) => {
  const { service, authorization } = await setUp(t);
  const post = (expect: string, version = 'HTTP/1.1') =>
    `POST /api/v1/repos/grep ${version}\r\n${HOST}${authorization}${expect}Content-Length: 2\r\n\r\n{}`;
  for (const expect of [
    'x',
    '100-continue, x',
    'x, 100-continue',
    '100-continued',
    '100-continue;q=1',
    '100 continue',
    '"100-continue"',
    '200-ok',
  ]) {
    const { responses, continues } = await sendRaw(service, post(`Expect: ${expect}\r\n`), 1);
    isRefusal(t, service, responses[0], 417, expect);
    t.equal(continues, 0, `${expect}: no 100 before it`);
    for (const path of ['/_emulator/health', '/_emulator/version', '/api/v1/repo']) {
      const refused = await sendRaw(service, `GET ${path} HTTP/1.1\r\n${HOST}Expect: ${expect}\r\n\r\n`, 1);
      isRefusal(t, service, refused.responses[0], 417, `${path} ${expect}`);
    }
  }
  isRefusal(
    t,
    service,
    (await sendRaw(service, post('Expect: 100-continue\r\nExpect: x\r\n'), 1)).responses[0],
    417,
    'two',
  );
  for (const none of ['Expect:\r\n', 'Expect: ,\r\n']) {
    t.match(await sendRaw(service, post(none), 1), { continues: 0, responses: [{ status: 400, body: /query/ }] });
  }
  // Expect no `100 Continue`. A server must ignore an expectation in an HTTP/1.0 request (RFC 9110, section 10.1.1).
  for (const expect of ['x', '100-continue']) {
    const { responses, continues } = await sendRaw(service, post(`Expect: ${expect}\r\n`, 'HTTP/1.0'), 1);
    t.match(responses, [{ status: 400, body: /query/ }], `HTTP/1.0 ${expect}`);
    t.equal(continues, 0);
  }
  const next = `GET /api/v1/repo HTTP/1.1\r\n${HOST}${authorization}\r\n`;
  const { responses } = await sendRaw(service, post('Expect: x\r\n') + next, 2);
  t.match(responses, [{ status: 417 }, { status: 200 }], 'a body that was sent all the same does not hold up the next');
});

t.test('100 Continue is sent when the body is wanted, and not before a refusal', async (t) => {
  const { service, authorization } = await setUp(t);
  const body = packBody({ 'expected.txt': 'expected' });
  const ask = (fields: string, target = '/api/v1/repos/commit-pack') =>
    converse(
      service,
      (socket) =>
        socket.write(
          `POST ${target} HTTP/1.1\r\n${HOST}${fields}Expect: 100-Continue\r\nContent-Length: ${body.length}\r\n\r\n`,
        ),
      {
        count: 1,
        onText: (text, socket) => {
          if (text === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write(body);
        },
      },
    );
  t.match(await ask(authorization), { continues: 1, responses: [{ status: 201 }] });
  for (const [what, fields, target, status] of [
    ['no credential', '', undefined, 401],
    ['an unknown route', authorization, '/api/v1/nothing', 404],
    ['a wrong method', authorization, '/api/v1/repos/file', 405],
    ['a compressed body', `${authorization}Content-Encoding: gzip\r\n`, undefined, 415],
    ['an asked-for fault', `${authorization}X-Emulator-Fault: rate_limited\r\n`, undefined, 429],
    ['a foreign host', `Host: localhost\r\n`, undefined, 400],
    ['a push without a credential', '', '/team/app.git/git-receive-pack', 401],
  ] as const) {
    const { responses, continues } = await ask(fields, target);
    t.match(responses, [{ status }], what);
    t.equal(continues, 0, `${what}: refused at once`);
    t.equal(
      responses[0]?.headers.connection,
      'close',
      `${what}: whether a body follows is not known (RFC 9110, 10.1.1)`,
    );
  }
  const type = 'Content-Type: application/x-git-receive-pack-request\r\n';
  const push = await ask(`${authorization}${type}`, '/team/app.git/git-receive-pack');
  t.equal(push.continues, 1, 'a push whose credential holds is waited for');
});

t.test('CONNECT, OPTIONS * and Upgrade', async (t) => {
  const { service, authorization } = await setUp(t);
  for (const [text, status] of [
    [`CONNECT localhost:80 HTTP/1.1\r\n${HOST}\r\n`, 405],
    [`CONNECT 127.0.0.1:443 HTTP/1.1\r\n${HOST}\r\nGET / HTTP/1.1\r\n${HOST}\r\n`, 405],
    [`CONNECT /api/v1/repo HTTP/1.1\r\n${HOST}${authorization}\r\n`, 400],
    [`CONNECT localhost HTTP/1.1\r\n${HOST}\r\n`, 400],
    [`CONNECT http://localhost/ HTTP/1.1\r\n${HOST}\r\n`, 400],
    [`CONNECT localhost:80 HTTP/1.1\r\n\r\n`, 400],
    [`CONNECT /_emulator/version HTTP/1.1\r\n${HOST}\r\n`, 400],
  ] as const) {
    const { responses, end } = await sendRaw(service, text);
    t.equal(responses.length, 1, text);
    isRefusal(t, service, responses[0], status, text);
    t.equal(end, 'closed');
    if (status === 405) t.match(responses[0]?.headers.allow, /GET, HEAD.*POST/);
  }
  const foreign = await sendRaw(service, `CONNECT localhost:80 HTTP/1.1\r\nHost: evil.example\r\n\r\n`);
  t.match(foreign.responses, [{ status: 403, body: /"forbidden"/ }]);
  const behind = await sendRaw(
    service,
    `GET /api/v1/repo HTTP/1.1\r\n${HOST}${authorization}\r\nCONNECT localhost:80 HTTP/1.1\r\n${HOST}\r\n`,
  );
  t.match(behind.responses, [{ status: 200 }, { status: 405 }], 'behind a request whose answer is on its way');

  const star = await sendRaw(service, `OPTIONS * HTTP/1.1\r\n${HOST}\r\nGET /api/v1/repo HTTP/1.1\r\n${HOST}\r\n`, 2);
  isRefusal(t, service, star.responses[0], 405, 'OPTIONS *');
  t.equal(star.responses[0]?.headers.allow, 'GET, HEAD, POST, PUT, PATCH, DELETE');
  t.equal(star.responses[1]?.status, 401, 'the connection goes on');
  for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
    const response = await sendRaw(service, `${method} * HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`, 1);
    t.equal(response.responses[0]?.status, 400, `${method} *`);
  }

  // Ask for an upgrade, which a server may ignore (RFC 9110, section 7.8). Send nothing after it on the connection,
  // because Node drops everything after such a request.
  const upgrade = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';
  for (const [line, status] of [
    ['GET /api/v1/repo', 200],
    ['GET /_emulator/health', 200],
    ['GET /_emulator/version', 200],
  ] as const) {
    const next = `GET /api/v1/repo HTTP/1.1\r\n${HOST}${authorization}\r\n`;
    const { responses, end } = await sendRaw(
      service,
      `${line} HTTP/1.1\r\n${HOST}${authorization}${upgrade}\r\n${next}`,
    );
    t.match(responses, [{ status, headers: { connection: 'close' } }], line);
    t.equal(responses.length, 1, 'what follows is not answered');
    t.equal(end, 'closed');
  }
  const body = packBody({ u: 'u' });
  const write = `POST /api/v1/repos/commit-pack HTTP/1.1\r\n${HOST}${authorization}${upgrade}Content-Length: ${body.length}\r\n\r\n${body}`;
  t.match((await sendRaw(service, write)).responses, [{ status: 201, headers: { connection: 'close' } }]);
});

t.test('pipelined requests get one response each in order, including invalid ones', async (t) => {
  const { service, authorization } = await setUp(t);
  const good = `GET /api/v1/repo HTTP/1.1\r\n${HOST}${authorization}\r\n`;
  const rows: [text: string, status: number][] = [
    [good, 200],
    [`GET /api/v1/repo HTTP/1.1\r\n${authorization}\r\n`, 400],
    [`GET /_emulator/version HTTP/1.1\r\n\r\n`, 400],
    [`GET /_emulator/version HTTP/1.1\r\n${HOST}\r\n`, 200],
    [`POST /api/v1/repos/grep HTTP/1.1\r\n${HOST}${HOST}Content-Length: 2\r\n\r\n{}`, 400],
    [`POST /_emulator/health HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`, 405],
    [`POST /_emulator/version HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`, 405],
    [`GET /_emulator/health HTTP/1.1\r\n${HOST}\r\n`, 200],
    [`OPTIONS /_emulator/none HTTP/1.1\r\n${HOST}\r\n`, 404],
    [`GET http://127.0.0.1/api/v1/repo HTTP/1.1\r\n${HOST}${authorization}\r\n`, 200],
    [good, 200],
  ];
  const { responses } = await sendRaw(service, rows.map(([text]) => text).join(''), rows.length);
  t.same(
    responses.map(({ status }) => status),
    rows.map(([, status]) => status),
  );
  t.equal(new Set(responses.map(({ headers }) => headers.connection)).size, 1, 'and the connection is kept throughout');
});
