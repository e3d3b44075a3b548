import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { request } from 'undici';
import { createAdmin } from './admin/routes.js';
import { type AppOptions, createApp } from './app.js';
import { KeyRing } from './auth/keys.js';
import { ServedHosts } from './http/host.js';
import type { LogLine } from './ports.js';
import { World } from './world.js';

t.test('what goes wrong in the emulator’s own routes is a 500 like any other, and not for good', async (t) => {
  const log: LogLine[] = [];
  const organization = {
    name: 'demo',
    keys: KeyRing.EMPTY,
    authenticationAvailable: true,
    hostingEnabled: true,
    forgeApps: 1,
  };
  const world = new World({ organizations: [organization], log: { write: (line) => log.push(line) } });
  let loads = 0;
  let isBroken = true;
  const options: AppOptions = {
    operations: [],
    organization: 'demo',
    origin: () => 'http://localhost',
    servedHosts: new ServedHosts([]),
    inBandFaults: false,
  };
  const app = createApp(world, options, async () => {
    loads++;
    if (loads === 1) throw new Error('cannot be loaded');
    const origin = () => {
      if (isBroken) throw new Error('no origin yet');
      return options.origin();
    };
    return createAdmin(world, { ...options, origin });
  });
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
  t.match(await ask('/_emulator/version'), { ...failed, id: 'req-00000001' }, 'loading fails');
  t.match(log, [
    { event: 'internal_error', request: 'req-00000001', stack: /cannot be loaded/ },
    { event: 'request', id: 'req-00000001', status: 500 },
  ]);
  t.match(await ask('/_emulator/version'), { status: 200, id: undefined }, 'and is tried again');
  t.match(await ask('/_emulator/openapi.json'), failed, 'a route fails');
  isBroken = false;
  t.match(await ask('/_emulator/openapi.json'), { status: 200 });
  t.equal(loads, 2, 'what was loaded is kept');
});
