import { execFileSync, spawn } from 'node:child_process';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { GIT_ENVIRONMENT } from '../git.js';

/**
 * CGI server (RFC 3875) that runs `git http-backend`, with which the emulator is compared. It responds with 401 to
 * requests without credentials, and accepts any password. Git then sends the same sequence of requests as to the
 * emulator.
 */
const root = process.argv[2]!;
const backend = join(execFileSync('git', ['--exec-path']).toString().trim(), 'git-http-backend');

const server = http.createServer((request, response) => {
  if (request.headers.authorization === undefined) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"', 'content-length': 0 }).end();
    return;
  }
  const { method, headers } = request;
  const { pathname, search } = new URL(request.url!, 'http://localhost');
  const variables = {
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: '1',
    REQUEST_METHOD: method,
    PATH_INFO: decodeURIComponent(pathname),
    QUERY_STRING: search.slice(1),
    REMOTE_USER: 'bench',
    REMOTE_ADDR: '127.0.0.1',
    CONTENT_TYPE: headers['content-type'] ?? '',
    CONTENT_LENGTH: headers['content-length'] ?? '',
    HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
    GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
  };
  const env = { ...GIT_ENVIRONMENT, ...variables };
  const child = spawn(backend, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  request.pipe(child.stdin);
  child.stdin.on('error', () => request.resume());
  let head = Buffer.alloc(0);
  child.stdout.on('data', function readHead(piece: Buffer) {
    head = Buffer.concat([head, piece]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    child.stdout.off('data', readHead);
    // A CGI program writes header lines as in HTTP, but the header `Status` instead of a status line (RFC 3875, 6.3).
    for (const line of head.toString('latin1', 0, end).split('\r\n')) {
      const [name, value] = line.split(': ') as [string, string];
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.write(head.subarray(end + 4));
    child.stdout.pipe(response);
  });
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ base_url: `http://127.0.0.1:${port}` })}\n`);
});
