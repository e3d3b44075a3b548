import { execFileSync, spawn } from 'node:child_process';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { GIT_ENVIRONMENT } from '../git.js';

/**
 * `git http-backend` behind a minimal CGI server (RFC 3875). It requests Basic authentication once and accepts any
 * password, so that git sends the same requests as to the emulator.
 */
const root = process.argv[2]!;
const backend = join(execFileSync('git', ['--exec-path']).toString().trim(), 'git-http-backend');

const server = http.createServer((request, response) => {
  if (request.headers.authorization === undefined) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"', 'content-length': 0 }).end();
    return;
  }
  const child = spawn(backend, {
    env: { ...GIT_ENVIRONMENT, ...metaVariables(request) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => request.resume());
  let head = Buffer.alloc(0);
  child.stdout.on('data', function readHead(piece: Buffer) {
    head = Buffer.concat([head, piece]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    child.stdout.off('data', readHead);
    const { status, headers } = readCgiHead(head.toString('latin1', 0, end));
    response.writeHead(status, headers);
    response.write(head.subarray(end + 4));
    child.stdout.pipe(response);
  });
});

function metaVariables(request: http.IncomingMessage): Record<string, string> {
  const { pathname, search } = new URL(request.url!, 'http://localhost');
  const { headers } = request;
  return {
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: '1',
    REQUEST_METHOD: request.method!,
    PATH_INFO: decodeURIComponent(pathname),
    QUERY_STRING: search.slice(1),
    REMOTE_USER: 'bench',
    REMOTE_ADDR: '127.0.0.1',
    ...(headers['content-type'] && { CONTENT_TYPE: headers['content-type'] }),
    ...(headers['content-length'] && { CONTENT_LENGTH: headers['content-length'] }),
    ...(headers['content-encoding'] && { HTTP_CONTENT_ENCODING: headers['content-encoding'] }),
    ...(headers['git-protocol'] && { GIT_PROTOCOL: String(headers['git-protocol']) }),
  };
}

/** RFC 3875, 6.3: header lines as in HTTP, and `Status` for the status line. */
function readCgiHead(head: string): { status: number; headers: Record<string, string> } {
  const fields = head.split('\r\n').map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const { status = '200', ...headers } = Object.fromEntries(fields) as Record<string, string>;
  return { status: Number.parseInt(status, 10), headers };
}

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ base_url: `http://127.0.0.1:${port}` })}\n`);
});
process.once('SIGTERM', () => process.exit(0));
