import { operations } from '../../api/index.js';
import { ServedHosts } from '../../http/host.js';
import { createApp } from '../../pipeline/pipeline.js';
import { Connections } from '../../server/drain.js';
import { createServer, listen } from '../../server/listen.js';
import type { CurrentWorld } from '../../world/current-world.js';
import { NO_NAMESPACES } from '../no-namespaces.js';

/**
 * Serves a world on its own port. A world is the whole state of an emulator. The port stays open when the world is
 * closed, so that a test can send requests to a closed world.
 */
export async function serveWorld(current: CurrentWorld): Promise<{ url: string; close(): Promise<void> }> {
  let origin = '';
  const app = createApp(current, {
    operations,
    organization: 'demo',
    origin: () => origin,
    servedHosts: new ServedHosts(['127.0.0.1']),
    inBandFaults: true,
    controls: {
      closing: new AbortController().signal,
      shutDown: () => {},
      addresses: () => ({ orgs: [], hosts: [] }),
      hasTestKeys: true,
      refusesTestKeys: false,
      namespaces: NO_NAMESPACES,
    },
  });
  const connections = new Connections();
  const server = createServer(connections.serve(app), current);
  connections.watch(server);
  origin = `http://127.0.0.1:${await listen(server, 0, '127.0.0.1')}`;
  return { url: origin, close: () => connections.drain(server, { graceMs: 0, idleMs: 0 }) };
}
