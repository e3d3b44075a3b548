import http from 'node:http';
import { isIP } from 'node:net';
import { HEALTH_PATH } from '../admin/path.js';
import type { CurrentWorld } from '../world/current-world.js';
import type { OtherWorlds } from './accept-faults.js';
import { type AppOptions, createApp, type SharedRoutes } from './app.js';
import { ConnectionNames } from './connection-names.js';
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

export interface ListenOptions extends Omit<AppOptions, 'organization' | 'origin'> {
  readonly host: string;
  /** Binds the port of the organization at `index`, and resolves to it. */
  readonly bind: (server: http.Server, index: number) => Promise<number>;
  /** Other worlds that the first port leads to. */
  readonly others?: OtherWorlds & {
    /** Looks at every request of the first port before the organization's own application does. */
    dispatch(own: http.RequestListener): http.RequestListener;
  };
}

/** The ports of one world, one per organization. */
export class Listeners {
  readonly all: Listener[] = [];
  private readonly drains: ((options: DrainOptions) => Promise<void>)[] = [];
  /** The application of the first organization. */
  app: http.RequestListener | undefined;

  /** Opens the ports in the order of the organizations. Rejects with the system's error; those that are open then stay so. */
  async open(current: CurrentWorld, options: ListenOptions, shared: SharedRoutes): Promise<void> {
    const { host, bind, ...appOptions } = options;
    for (const [index, { name: org }] of current.config.organizations.entries()) {
      let origin = '';
      const names = new ConnectionNames();
      const own = { ...appOptions, organization: org, origin: () => origin, connections: names };
      const app = createApp(current, own, shared);
      this.app ??= app;
      const connections = new Connections();
      const others = index === 0 ? options.others : undefined;
      const server = createServer(connections.serve(others?.dispatch(app) ?? app), current, { names, others });
      connections.watch(server);
      const port = await bind(server, index);
      this.drains.push((drain) => connections.drain(server, drain));
      const shown = `${shownHost(host)}:${port}`;
      origin = `http://${shown}`;
      this.all.push({ org, origin, host: shown });
    }
  }

  /** Stops listening, and lets running requests finish as `options` say. */
  async drain(options: DrainOptions): Promise<void> {
    await Promise.all(this.drains.map((drain) => drain(options)));
  }
}

/** Asks the listener for its health: what listens but does not answer is not ready. */
export function answerOnce({ origin }: Listener): Promise<void> {
  return new Promise((resolve, reject) => {
    const question = http.get(`${origin}${HEALTH_PATH}`, { agent: false, headers: { connection: 'close' } });
    question.once('error', reject).once('response', (response) => response.resume().once('end', resolve));
  });
}

/** Binds the first port that is free of `ports`. Rejects with the system's error for the last one when none is. */
export async function listenOnFirst(server: http.Server, ports: Iterable<number>, host: string): Promise<number> {
  let refusal: unknown;
  for (const port of ports) {
    try {
      return await listen(server, port, host);
    } catch (error) {
      refusal = error;
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') break;
    }
  }
  throw refusal;
}

/** The address clients use: a wildcard is reached on loopback. */
function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return isIP(host) === 6 ? `[${host}]` : host;
}
