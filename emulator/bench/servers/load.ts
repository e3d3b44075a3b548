import { connect } from 'node:net';

/**
 * Requests one path repeatedly on keep-alive connections for a given time, and prints the number of responses. It is a
 * separate process without an HTTP library, so that the server limits the rate.
 */
const { port, path, authorization, connections, milliseconds } = JSON.parse(process.argv[2]!) as {
  port: number;
  path: string;
  authorization: string;
  connections: number;
  milliseconds: number;
};
const question = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${authorization}\r\n\r\n`;
const start = performance.now();
let responses = 0;
let failures = 0;

function open(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(question));
    let pending = '';
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (piece: string) => {
      pending += piece;
      const head = pending.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(pending)?.[1] ?? 0);
      if (pending.length < head + 4 + length) return;
      if (pending.startsWith('HTTP/1.1 200')) responses += 1;
      else failures += 1;
      const closes = /connection: close/i.test(pending.slice(0, head));
      pending = '';
      if (performance.now() - start >= milliseconds || closes) socket.end();
      else socket.write(question);
    });
    socket.on('error', () => undefined);
    socket.once('close', () => resolve());
  });
}

async function keepAsking(): Promise<void> {
  while (performance.now() - start < milliseconds) await open();
}

await Promise.all(Array.from({ length: connections }, keepAsking));
process.stdout.write(JSON.stringify({ answers: responses, failures, seconds: (performance.now() - start) / 1000 }));
