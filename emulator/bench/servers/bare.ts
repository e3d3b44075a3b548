import http from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Minimal `node:http` server, as a lower bound for the response time of any server in Node. Responds to every request
 * with the text in its first command-line argument.
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
