import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { Pool } from 'undici';
import { readChunks } from './body.js';
import { json } from './reply.js';
import { writeReply } from './respond.js';

const BODY = { maxBytes: 64 * 1024 * 1024, idleTimeout: 5_000 };

/** Ways to leave a body: what each does before the answer is written. */
const LEAVES: Readonly<Record<string, (request: IncomingMessage) => Promise<void>>> = {
  'unread from the start': async () => {},
  'after its first piece': async (request) => {
    for await (const _ of readChunks(request, BODY)) return;
  },
  'by a refusal half-way': async (request) => {
    await readChunks(request, { ...BODY, maxBytes: 1 })
      .next()
      .catch(() => undefined);
  },
};

for (const [how, leave] of Object.entries(LEAVES)) {
  t.test(`a body left ${how} does not hold up the next request on its connection`, async (t) => {
    const ends: Promise<unknown>[] = [];
    const server = createServer((request, response) => {
      ends.push(once(request, 'close', { signal: AbortSignal.timeout(5_000) }));
      void leave(request).then(() => writeReply(request, response, json(400, {})));
    });
    let connections = 0;
    server.on('connection', () => connections++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    // Were the rest not discarded, the second answer would wait until the connection is cut.
    const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      connections: 1,
      headersTimeout: 5_000,
    });
    for (const bytes of [100_000, 10_000_000, 100_000]) {
      const answer = await pool.request({ method: 'POST', path: '/', body: Buffer.alloc(bytes) });
      t.equal(answer.statusCode, 400);
      await answer.body.dump();
    }
    t.equal(connections, 1);
    await t.resolves(Promise.all(ends), 'nothing is left that could cut the connection later');
    await pool.close();
    server.close();
  });
}
