import http from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A bare `node:http` server, the lower bound for a Node service. Responds to every request with the bytes from its
 * arguments.
 */
const body = process.argv[2] ?? '{}';
const server = http.createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ base_url: `http://127.0.0.1:${port}` })}\n`);
});
