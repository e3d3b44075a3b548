import { once } from 'node:events';
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { startService } from '../service.js';

/**
 * Beginning of the response to a request without a token. It shows that no fault has ended the connection before it.
 */
const SERVED = 'HTTP/1.1 401';

async function stage(t: Test) {
  const service = await startService();
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  const { port } = new URL(service.url);
  /**
   * Sends a request, first its `pieces` with pauses between them, and waits until the connection closes. Returns the
   * beginning of the response, or the code of the error if the connection is reset.
   */
  const ask = async (target = '/api/meta', pieces: readonly string[] = [], status = '401'): Promise<string> => {
    const socket = connect(Number(port), '127.0.0.1');
    let got = '';
    socket.on('data', (bytes) => {
      got += bytes;
    });
    // The connection may be reset while the pieces are still being sent.
    const closed = once(socket, 'close').then(
      () => got.slice(0, `HTTP/1.1 ${status}`.length),
      (error: NodeJS.ErrnoException) => error.code ?? '',
    );
    for (const piece of pieces) {
      socket.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    socket.write(
      `${pieces.length > 0 ? '' : 'GET '}${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    return closed;
  };
  return { service, ask };
}

t.test('a connection can be closed before anything is read', async (t) => {
  const { service, ask } = await stage(t);
  const { emulator } = service;
  const fin = emulator.fault('cut*1@accept;how=fin');
  t.equal(await ask(), '');
  t.equal(await ask(), SERVED, 'the next one is served');
  t.equal(fin.fired, 1);
  emulator.fault('cut*1@accept;how=rst');
  t.equal(await ask(), 'ECONNRESET');
  t.equal(await ask(), SERVED);
});

t.test('a held connection is read after the release of its latch', async (t) => {
  const { service, ask } = await stage(t);
  const held = service.emulator.fault('hold*1@accept;latch=door');
  const response = ask();
  const { latches } = service.world.background;
  while (latches.waiting().size === 0) await new Promise((resolve) => setImmediate(resolve));
  t.equal(await ask(), SERVED, 'others pass');
  t.equal(latches.release('door'), 1);
  t.equal(await response, SERVED);
  t.equal(held.fired, 1);
  service.emulator.fault('latency*1@accept;ms=20');
  t.equal(await ask(), SERVED);
});

t.test('a held connection is released when its client disconnects', async (t) => {
  const { service } = await stage(t);
  service.emulator.fault('hold@accept;latch=door');
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  const { latches } = service.world.background;
  while (latches.waiting().size === 0) await new Promise((resolve) => setImmediate(resolve));
  socket.resetAndDestroy();
  while (latches.waiting().size > 0) await new Promise((resolve) => setImmediate(resolve));
  t.pass('it does not wait any more');
});

t.test('admin routes are exempt, so that a fault can always be removed', async (t) => {
  const { service, ask } = await stage(t);
  const cut = service.emulator.fault('cut@accept;how=rst');
  const ok = 'HTTP/1.1 200';
  t.equal(await ask('/_emulator/health'), ok);
  t.equal(await ask('http://localhost/_emulator/health?x'), ok);
  t.equal(await ask('lator/health', ['GE', 'T ', '/_emu']), ok, 'in pieces');
  t.equal(await ask('/api/_emulator/health'), 'ECONNRESET');
  t.equal(await ask('/api/meta?/_emulator'), 'ECONNRESET');
  t.equal(await ask('eta', ['GET /api', '/m']), 'ECONNRESET');
  t.equal(cut.fired, 3);
  const gone = await service.call('DELETE', `/_emulator/faults/${cut.id}`, { token: null });
  t.equal(gone.status, 204);
  t.equal(await ask(), SERVED);
});

t.test('a connection to a namespace by its Host is not affected by faults of the first port', async (t) => {
  const { service } = await stage(t);
  const { port } = new URL(service.url);
  const get = async (...pieces: string[]): Promise<string> => {
    const socket = connect(Number(port), '127.0.0.1');
    let got = '';
    socket.on('data', (bytes) => {
      got += bytes;
    });
    const closed = once(socket, 'close');
    for (const piece of pieces) {
      socket.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await closed;
    return got.slice(0, SERVED.length);
  };
  const first = 'GET /api/meta HTTP/1.1\r\n';
  const end = 'Connection: close\r\n\r\n';
  const namespace = await service.emulator.namespace();
  const host = `${namespace.id}.ns.localhost`;
  const cut = service.emulator.fault('cut@accept;how=fin');
  for (const pieces of [
    [`${first}Host: ${host}\r\n${end}`],
    [`${first}host:${host}:${port} \t\r\n${end}`],
    [`${first}X-Before: 1\r\nHOST: ${host.toUpperCase()}\r\n${end}`],
    [`${first}X-Long: ${'x'.repeat(9_000)}\r\nHost: ${host}\r\n${end}`],
    [first, 'Ho', `st: ${host}`, '\r\n', end],
  ])
    t.equal(await get(...pieces), SERVED, JSON.stringify(pieces).slice(0, 90));
  t.equal(cut.fired, 0);
  const met = [
    [`${first}Host: localhost\r\n${end}`],
    [`${first}Host: ns-9.ns.localhost\r\n${end}`],
    [`${first}X-Host: ${host}\r\nHost: localhost\r\n${end}`],
    [`${first}X: y host: ${host}\r\nHost: localhost\r\n${end}`],
    [`${first}${end}Host: ${host}\r\n`],
    [first, `Connection: close\r\nHost: local`, `host\r\n\r\n`],
    [first],
  ];
  for (const pieces of met) t.equal(await get(...pieces), '', JSON.stringify(pieces));
  t.equal(cut.fired, met.length);
  const own = namespace.fault('cut@accept;how=fin');
  t.equal(await get(`${first}Host: ${host}\r\n${end}`), SERVED, 'nor those of its own port');
  t.equal(own.fired, 0);
  await namespace.close();
  t.equal(await get(`${first}Host: ${host}\r\n${end}`), '', 'it is gone');
});

t.test('a connection that sends nothing is affected as well', async (t) => {
  const { service } = await stage(t);
  service.emulator.fault('cut@accept');
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  await once(socket.resume(), 'close');
  t.match(service.emulator.requests(), [{ outcome: 'cut' }]);
});

t.test('a closed connection is recorded in the journal', async (t) => {
  const { service, ask } = await stage(t);
  const { emulator } = service;
  emulator.fault({ id: 'slow', at: 'accept', when: { times: 1, skip: 1 }, do: { latency: { ms: 1 } } });
  const cut = emulator.fault({ id: 'gone', at: 'accept', when: { times: 1 }, do: { cut: { how: 'fin' } } });
  t.equal(await ask(), '');
  t.equal(await ask(), SERVED);
  const [line, next, ...rest] = emulator.requests();
  t.match(line, {
    at: /^20/,
    method: '',
    path: '',
    status: 0,
    origin: 'injected:gone',
    faults: ['gone'],
    why: ['The fault gone closed connection-1 before any response.'],
    outcome: 'cut',
  });
  t.same(cut.requests(), [line!.id]);
  t.match(next, { path: '/api/meta', origin: 'real' });
  t.same(
    rest.filter(({ path }) => path !== ''),
    [],
  );
  t.match(await emulator.verify({ requests: [{ match: { fault: 'gone' }, count: 1 }] }), { met: true });
});

t.test('a port refuses connections for a time, and then serves again', async (t) => {
  const { service, ask } = await stage(t);
  const { emulator } = service;
  const kept = connect(Number(new URL(service.url).port), '127.0.0.1');
  kept.write('GET /api/meta HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(kept, 'data');
  const refused = emulator.fault('refuse*1+1;ms=300');
  t.equal(await ask(), SERVED, 'skip counts connections');
  t.equal(await ask('/_emulator/health'), 'HTTP/1.1 200', 'the admin API does not trigger the fault');
  t.equal(await ask(), 'ECONNRESET');
  t.equal(await ask('/_emulator/health'), 'ECONNREFUSED', 'then the port refuses the admin API too');
  let outcome = 'ECONNREFUSED';
  while (outcome === 'ECONNREFUSED') outcome = await ask();
  t.equal(outcome, SERVED);
  t.equal(refused.fired, 1);
  kept.write('GET /api/meta HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  const [answer] = await once(kept, 'data');
  t.match(String(answer), /^HTTP\/1\.1 401/, 'an open connection continues');
  const record = emulator.requests().find(({ id }) => id === refused.requests()[0]);
  t.match(record, { outcome: 'cut', why: [/The fault fault-1 closed connection-\d+ before any response\./] });
});

t.test('an emulator ends while its port refuses connections', async (t) => {
  const { service, ask } = await stage(t);
  service.emulator.fault('refuse;ms=60000');
  t.equal(await ask(), 'ECONNRESET');
  await service.emulator.close({ graceMs: 0 });
  t.equal(await ask(), 'ECONNREFUSED');
});
