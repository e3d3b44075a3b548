import http from 'node:http';
import { isIP } from 'node:net';
import { HEALTH_PATH } from '../admin/path.js';
import { fixtureRing } from '../auth/fixture-keys.js';
import { loadVerifier } from '../auth/verify.js';
import { isLoopback } from '../config/loopback.js';
import type { EmulatorOptions } from '../config/options.js';
import { ServedHosts } from '../http/host.js';
import type { Operation } from '../operation/operation.js';
import { CurrentWorld } from '../world/current-world.js';
import type { EnginePorts } from '../world/engine.js';
import { createApp } from './app.js';
import { Connections, type DrainOptions } from './drain.js';
import { createServer, listen } from './listen.js';

/** Where one organization is reached. */
export interface Listener {
  readonly org: string;
  /** An origin without a trailing slash. */
  readonly origin: string;
  /** Host and port, as they stand in a URL. */
  readonly host: string;
}

/** The whole service, listening: one port per organization, over one world. */
export interface Server {
  /** In the order of the organizations. */
  readonly listeners: readonly [Listener, ...Listener[]];
  readonly current: CurrentWorld;
  /** Every operation that is served. */
  readonly operations: readonly Operation[];
  /** Stops listening and lets running requests finish for `graceMs` (default: the drain time-out). */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** Starts the service and resolves once it answers. Rejects with the system's error when a port cannot be bound. */
export async function startServer(
  options: EmulatorOptions,
  operations: readonly Operation[],
  ports: EnginePorts = {},
): Promise<Server> {
  const current = createWorld(options, ports);
  const drains: ((options: DrainOptions) => Promise<void>)[] = [];
  const { drainTimeout, drainIdleTimeout: idleMs } = options.limits;
  const close = async ({ graceMs = drainTimeout } = {}): Promise<void> => {
    current.world.background.endWaits();
    await Promise.all(drains.map((drain) => drain({ graceMs, idleMs })));
    await current.close();
  };
  const listeners: Listener[] = [];
  try {
    for (const [index, org] of options.org.entries()) {
      let origin = '';
      const app = createApp(current, {
        operations,
        organization: org,
        origin: () => origin,
        servedHosts: new ServedHosts([...options.allowedHost, options.host]),
        inBandFaults: options.inbandFaults === 'loopback' ? isLoopback(options.host) : options.inbandFaults === 'on',
      });
      const connections = new Connections();
      const server = createServer(connections.serve(app), current);
      connections.watch(server);
      const port = await listen(server, index === 0 ? options.port : 0, options.host);
      drains.push((options) => connections.drain(server, options));
      const host = `${shownHost(options.host)}:${port}`;
      origin = `http://${host}`;
      listeners.push({ org, origin, host });
    }
    await Promise.all(listeners.map(({ origin }) => answerOnce(origin)));
    // The first token needs it. Nothing waits for it at the start.
    void loadVerifier();
  } catch (error) {
    await close({ graceMs: 0 });
    throw error;
  }
  return { listeners: listeners as [Listener, ...Listener[]], current, operations, close };
}

function createWorld(options: EmulatorOptions, ports: EnginePorts): CurrentWorld {
  const { org, hosting, forgeApps, seed, clock, variants, limits, fsck, forgePrefix } = options;
  const organizations = org.map((name, index) => ({
    name,
    keys: fixtureRing(index),
    authenticationAvailable: true,
    hostingEnabled: hosting === 'on',
    forgeApps,
  }));
  const { upstreamHost, allowUpstream, allowWebhook, webhookPrefix } = options;
  const outside = { upstreamHost, allowUpstream, allowWebhook, webhookPrefix };
  return new CurrentWorld({ organizations, seed, clock, variants, limits, fsck, forgePrefix, outside }, ports);
}

/** Asks the listener for its health: what listens but does not answer is not ready. */
function answerOnce(origin: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const question = http.get(`${origin}${HEALTH_PATH}`, { agent: false, headers: { connection: 'close' } });
    question.once('error', reject).once('response', (response) => response.resume().once('end', resolve));
  });
}

/** The address clients use: a wildcard is reached on loopback. */
function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return isIP(host) === 6 ? `[${host}]` : host;
}
