import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { request } from 'undici';
import { KeyRing } from '../auth/keys.js';
import { ServedHosts } from '../http/host.js';
import type { LogLine } from '../log/log.js';
import { NO_NAMESPACES } from '../test/no-namespaces.js';
import { CurrentWorld } from '../world/current-world.js';
import { type AppOptions, createApp } from './pipeline.js';

const organization = {
  name: 'demo',
  keys: new KeyRing([]),
  authenticationAvailable: true,
  hostingEnabled: true,
  forgeApps: 1,
};

t.test('an unexpected error of an admin route is a 500', async (t) => {
  const log: LogLine[] = [];
  const current = new CurrentWorld({ organizations: [organization] }, { log: { write: (line) => log.push(line) } });
  let isBroken = false;
  let reads = 0;
  let origin = 'http://localhost';
  const options: AppOptions = {
    get operations() {
      reads++;
      if (isBroken) throw new Error('there are no operations');
      return [];
    },
    organization: 'demo',
    origin: () => origin,
    servedHosts: new ServedHosts([]),
    inBandFaults: false,
    controls: {
      closing: new AbortController().signal,
      shutDown: () => {},
      addresses: () => ({ orgs: [], hosts: [] }),
      hasTestKeys: true,
      refusesTestKeys: false,
      namespaces: NO_NAMESPACES,
    },
  };
  const app = createApp(current, options);
  isBroken = true;
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const ask = async (path: string) => {
    const { statusCode, headers, body } = await request(
      `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
      {
        headers: { connection: 'close' },
      },
    );
    return { status: statusCode, type: headers['content-type'], id: headers['x-request-id'], text: await body.text() };
  };
  const failed = { status: 500, type: 'application/problem+json', text: /"internal_error"/ };
  t.match(await ask('/_emulator/openapi.json'), { ...failed, id: undefined }, 'a route fails');
  t.match(log, [{ event: 'internal_error', stack: /there are no operations/ }]);
  t.equal(log.length, 1, 'requests to these routes are not counted, and not in the journal');
  t.match(await ask('/_emulator/version'), { status: 200, id: undefined }, 'the others go on');
  isBroken = false;
  reads = 0;
  const documents = await Promise.all([1, 2, 3].map(() => ask('/_emulator/openapi.json')));
  t.match(documents[0], { status: 200, type: 'application/json' });
  t.equal(new Set(documents.map(({ text }) => text)).size, 1);
  t.equal(reads, 1, 'the document is built once');
  origin = 'http://other "host"';
  const { servers, ...rest } = JSON.parse((await ask('/_emulator/openapi.json')).text);
  t.same(servers, [{ url: origin }], 'only the address differs');
  const { servers: _, ...others } = JSON.parse(documents[0]!.text);
  t.same(rest, others);
  t.equal(reads, 1);
  await ask('/_emulator/operations');
  reads = 0;
  await ask('/_emulator/operations?limit=1');
  t.equal(reads, 0, 'the operations are shown once');
});

t.test('a request whose response cannot be produced is disconnected, and the log has the reason', async (t) => {
  const log: LogLine[] = [];
  const write = (line: LogLine) => {
    if (line.event === 'request') throw new Error('the disk is full');
    log.push(line);
  };
  const current = new CurrentWorld({ organizations: [organization] }, { log: { write } });
  const options: AppOptions = {
    operations: [],
    organization: 'demo',
    origin: () => 'http://localhost',
    servedHosts: new ServedHosts([]),
    inBandFaults: false,
    controls: {
      closing: new AbortController().signal,
      shutDown: () => {},
      addresses: () => ({ orgs: [], hosts: [] }),
      hasTestKeys: true,
      refusesTestKeys: false,
      namespaces: NO_NAMESPACES,
    },
  };
  const server = createServer(createApp(current, options));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await t.rejects(request(`${origin}/api/v1/repo`), { code: 'UND_ERR_SOCKET' });
  t.match(log, [{ event: 'internal_error', stack: /the disk is full/ }]);
  t.equal(log.length, 1);
});
