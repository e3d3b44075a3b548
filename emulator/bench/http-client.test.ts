import http from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { HttpClient, ResponseReader } from './http-client.js';

const ANSWERS = {
  'of a length': ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', 200, 'hello'],
  'without a body': ['HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n', 204, ''],
  'in chunks': [
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nb\r\n, \r\nworld\r\n\r\n\r\n0\r\n\r\n',
    200,
    'hello, \r\nworld\r\n',
  ],
  'behind an informational one': [
    'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno',
    404,
    'no',
  ],
} as const;

t.test('a response is read regardless of how it is split into chunks', async (t) => {
  for (const [name, [text, status, body]] of Object.entries(ANSWERS)) {
    for (let size = 1; size <= text.length; size++) {
      const reader = new ResponseReader(true);
      let at = 0;
      while (at < text.length && !reader.take(Buffer.from(text.slice(at, at + size)))) at += size;
      const response = reader.answer();
      if (response.status === status && response.body.toString() === body && at + size >= text.length) continue;
      t.fail(`${name}, in pieces of ${size}`, { found: response });
    }
    t.pass(name);
  }
  const closing = new ResponseReader(false);
  t.ok(closing.take(Buffer.from('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx')));
  t.match(closing.answer(), { length: 1, body: { length: 0 } }, 'a body that nobody wants is counted');
  t.notOk(closing.staysOpen);
});

t.test('the client reuses its connection, and opens another one when it is closed', async (t) => {
  let connections = 0;
  const server = http.createServer((request, response) => {
    if (request.url === '/close') response.setHeader('connection', 'close');
    if (request.url === '/hangup') request.socket.destroy();
    else if (request.url === '/refuse') response.writeHead(413).end();
    else request.on('data', (piece) => response.write(piece)).on('end', () => response.end(request.method));
  });
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new HttpClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  t.teardown(() => {
    void client[Symbol.asyncDispose]();
    server.close();
  });
  const textOf = async (path: string, ...pieces: string[]) => {
    const body = pieces.length === 0 ? {} : { body: pieces.map((piece) => Buffer.from(piece)) };
    const response = await client.request(path, { ...body, keepsBody: true });
    return `${response.status} ${response.body}`;
  };
  t.equal(await textOf('/'), '200 GET');
  t.equal(await textOf('/', 'one', 'two'), '200 onetwoPOST');
  t.equal(await textOf('/'), '200 GET');
  t.equal(connections, 1);
  t.equal(await textOf('/close'), '200 GET');
  await t.rejects(textOf('/hangup'));
  t.equal(await textOf('/'), '200 GET');
  t.equal(connections, 3);
  t.equal(await textOf('/refuse', 'one'), '413 ');
  t.equal(await textOf('/'), '200 GET');
});
