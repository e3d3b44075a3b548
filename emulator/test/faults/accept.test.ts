import { once } from 'node:events';
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { startService } from '../service.js';

async function stage(t: Test) {
  const service = await startService();
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  const { port } = new URL(service.url);
  /** What a client gets that connects, sends a whole request at once, and waits for the end. */
  const ask = async (): Promise<string> => {
    const socket = connect(Number(port), '127.0.0.1');
    let got = '';
    socket.on('data', (bytes) => {
      got += bytes;
    });
    socket.write('GET /_emulator/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    try {
      await once(socket, 'close');
      return got.slice(0, 'HTTP/1.1 200'.length);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? '';
    }
  };
  return { service, ask };
}

t.test('a connection can be ended before anything of it is read', async (t) => {
  const { service, ask } = await stage(t);
  const { emulator } = service;
  const fin = emulator.fault('cut*1@accept;how=fin');
  t.equal(await ask(), '');
  t.equal(await ask(), 'HTTP/1.1 200', 'the next one is served');
  t.equal(fin.fired, 1);
  emulator.fault('cut*1@accept;how=rst');
  t.equal(await ask(), 'ECONNRESET');
  t.equal(await ask(), 'HTTP/1.1 200');
});

t.test('a connection that is held is read when it is let go', async (t) => {
  const { service, ask } = await stage(t);
  const held = service.emulator.fault('hold*1@accept;latch=door');
  const answer = ask();
  const { latches } = service.world.background;
  while (latches.waiting().size === 0) await new Promise((resolve) => setImmediate(resolve));
  t.equal(await ask(), 'HTTP/1.1 200', 'others pass');
  t.equal(latches.release('door'), 1);
  t.equal(await answer, 'HTTP/1.1 200');
  t.equal(held.fired, 1);
  service.emulator.fault('latency*1@accept;ms=20');
  t.equal(await ask(), 'HTTP/1.1 200');
});

t.test('a client that leaves while it is held is let go of', async (t) => {
  const { service } = await stage(t);
  service.emulator.fault('hold@accept;latch=door');
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  const { latches } = service.world.background;
  while (latches.waiting().size === 0) await new Promise((resolve) => setImmediate(resolve));
  socket.resetAndDestroy();
  while (latches.waiting().size > 0) await new Promise((resolve) => setImmediate(resolve));
  t.pass('it does not wait any more');
});
