import type http from 'node:http';
import { connect, isIP } from 'node:net';
import { HEALTH_PATH } from '../admin/path.js';
import { type Scheme, schemeOf } from '../http/scheme.js';
import { ConnectionNames } from '../pipeline/connection-names.js';
import { type AppOptions, createApp, type SharedRoutes } from '../pipeline/pipeline.js';
import type { CurrentWorld } from '../world/current-world.js';
import type { OtherWorlds } from './accept-faults.js';
import { Connections, type DrainOptions } from './drain.js';
import { createServer, type HttpsParameters, listen } from './listen.js';

/** Addresses of one organization. */
export interface Listener {
  readonly org: string;
  /** Origin without a trailing slash. */
  readonly origin: string;
  /** Host and port, as in a URL. */
  readonly host: string;
  /** HTTPS address of the organization; undefined if HTTPS is not served. */
  readonly secure: { readonly origin: string; readonly host: string; readonly port: number } | undefined;
  /** Addresses that responses show in place of `origin`. */
  readonly shown: ShownAddress;
}

/** URLs without a trailing slash. */
export interface ShownAddress {
  readonly baseUrl: string;
  readonly gitUrl: string;
}

export interface ListenOptions extends Omit<AppOptions, 'organization' | 'origin' | 'isOriginGiven'> {
  readonly host: string;
  /** Binds the port of the organization at `index`, and resolves to the port. */
  readonly bind: (server: http.Server, index: number, isSecure: boolean) => Promise<number>;
  /** Parameters of HTTPS servers beside the HTTP servers; undefined if HTTPS is not served. */
  readonly secured?: HttpsParameters | undefined;
  /** Addresses that responses of the first organization show in place of its own. */
  readonly shown?: Partial<ShownAddress> | undefined;
  /** Other worlds that the first port serves. */
  readonly others?: OtherWorlds & {
    /** Wraps the organization's own application, and passes requests for other worlds to theirs. */
    dispatch(own: http.RequestListener): http.RequestListener;
  };
}

/** Ports of one world, one per organization. */
export class Listeners {
  readonly all: Listener[] = [];
  private readonly drains: ((options: DrainOptions) => Promise<void>)[] = [];
  /** Application of the first organization; undefined before `open`. */
  app: http.RequestListener | undefined;

  /**
   * Opens the ports in the order of the organizations. Rejects with the system's error, and then ports that are already
   * open stay open.
   */
  async open(current: CurrentWorld, options: ListenOptions, shared: SharedRoutes): Promise<void> {
    const { host, bind, secured, shown: given, ...appOptions } = options;
    for (const [index, { name: org }] of current.config.organizations.entries()) {
      const origins: Record<Scheme, string> = { http: '', https: '' };
      const shownUrls = index === 0 ? given : undefined;
      const names = new ConnectionNames();
      const originOf = (request: http.IncomingMessage): string => shownUrls?.gitUrl ?? origins[schemeOf(request)];
      const isOriginGiven = shownUrls?.gitUrl !== undefined;
      const own = { ...appOptions, organization: org, origin: originOf, isOriginGiven, connections: names };
      const app = createApp(current, own, shared);
      this.app ??= app;
      const others = index === 0 ? options.others : undefined;
      const openPort = async (scheme: Scheme) => {
        const connections = new Connections();
        const ports = { names, others, secured: scheme === 'https' ? secured : undefined };
        const server = createServer(connections.serve(others?.dispatch(app) ?? app), current, ports);
        connections.watch(server);
        const port = await bind(server, index, scheme === 'https');
        this.drains.push((drain) => connections.drain(server, drain));
        const shown = `${shownHost(host)}:${port}`;
        origins[scheme] = `${scheme}://${shown}`;
        return { origin: origins[scheme], host: shown, port };
      };
      const plain = await openPort('http');
      const secure = secured && (await openPort('https'));
      const baseUrl = shownUrls?.baseUrl ?? plain.origin;
      const gitUrl = shownUrls?.gitUrl ?? baseUrl;
      this.all.push({ org, origin: plain.origin, host: plain.host, secure, shown: { baseUrl, gitUrl } });
    }
  }

  /** Stops listening, and lets running requests finish within the limits in `options`. */
  async drain(options: DrainOptions): Promise<void> {
    await Promise.all(this.drains.map((drain) => drain(options)));
  }
}

/**
 * Requests the health of the service, because a port that listens but does not respond is not ready. Does not use
 * Node's HTTP client, because loading it takes longer than the response.
 */
export function checkHealth({ origin }: Listener): Promise<void> {
  const { hostname, port, host } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port || 80), hostname.replace(/^\[(.*)\]$/, '$1'));
    socket.once('data', () => {
      socket.destroy();
      resolve();
    });
    socket
      .once('error', reject)
      .once('close', () => reject(new Error(`${origin} closed the connection without a response.`)));
    socket.write(`GET ${HEALTH_PATH} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
}

/** Binds the first free port in `ports`. Rejects with the system's error for the last port if none is free. */
export async function listenOnFirst(server: http.Server, ports: Iterable<number>, host: string): Promise<number> {
  let lastError: unknown;
  for (const port of ports) {
    try {
      return await listen(server, port, host);
    } catch (error) {
      lastError = error;
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') break;
    }
  }
  throw lastError;
}

/** Returns the host that clients use: a wildcard address is reached on loopback. */
function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return isIP(host) === 6 ? `[${host}]` : host;
}
