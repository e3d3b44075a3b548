import { once } from 'node:events';
import { type ConnectionOptions, connect } from 'node:tls';
import t, { type Test } from 'tap';
import { startEmulator } from '../../index.js';

async function stage(t: Test) {
  const emulator = await startEmulator({ port: 0, tls: true });
  t.teardown(() => emulator.close({ graceMs: 0 }));
  const { port } = new URL(emulator.https!.baseUrl);
  /** Sends a request over TLS. Returns the beginning of the response, or the code of the error. */
  const ask = async (options: ConnectionOptions = {}): Promise<string> => {
    const socket = connect({
      port: Number(port),
      host: '127.0.0.1',
      ca: emulator.ca!,
      servername: 'localhost',
      ...options,
    });
    let got = '';
    socket.on('data', (bytes) => {
      got += bytes;
    });
    socket.write('GET /api/meta HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    return once(socket, 'close').then(
      () => got.slice(0, 12),
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    );
  };
  return { emulator, ask };
}

t.test('a TLS handshake fails in each way, and the next one succeeds', async (t) => {
  const { emulator, ask } = await stage(t);
  t.equal(await ask(), 'HTTP/1.1 401');
  for (const [how, code] of [
    ['expired', 'CERT_HAS_EXPIRED'],
    ['wrong-host', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['reset', 'ECONNRESET'],
  ] as const) {
    const fault = emulator.fault(`tls*1;how=${how}`);
    t.equal(await ask(), code, how);
    t.equal(await ask(), 'HTTP/1.1 401', `after ${how}`);
    t.equal(fault.fired, 1);
    const [record] = emulator.requests().filter(({ id }) => fault.requests().includes(id));
    t.match(record, { outcome: 'cut', faults: [fault.id] });
  }
});

t.test('a client that accepts an invalid certificate is served', async (t) => {
  const { emulator, ask } = await stage(t);
  emulator.fault('tls;how=wrong-host');
  t.equal(await ask({ rejectUnauthorized: false }), 'HTTP/1.1 401');
});

t.test('a connection without TLS does not count for a failed handshake', async (t) => {
  const { emulator } = await stage(t);
  const fault = emulator.fault('tls;how=reset');
  t.equal((await fetch(`${emulator.baseUrl}/api/repos`)).status, 401);
  t.equal(fault.fired, 0);
  emulator.fault('refuse*1;ms=1');
  await t.rejects(fetch(`${emulator.baseUrl}/api/repos`, { headers: { connection: 'close' } }));
});
