import type http from 'node:http';
import { connect, isIP } from 'node:net';
import { HEALTH_PATH } from '../admin/path.js';
import { type Scheme, schemeOf } from '../http/scheme.js';
import { ConnectionNames } from '../pipeline/connection-names.js';
import { type AppOptions, createApp, type SharedRoutes } from '../pipeline/pipeline.js';
import type { CurrentWorld } from '../world/current-world.js';
import type { OtherWorlds } from './accept-faults.js';
import { Connections, type DrainOptions } from './drain.js';
import type { HttpsParameters } from './https-parameters.js';
import { createServer, listen } from './listen.js';

/** Addresses of the ports of one organization. */
export interface Listener {
  readonly org: string;
  /** Origin of the HTTP port (scheme, host and port), without a trailing slash. */
  readonly origin: string;
  /** Host and port of the HTTP port, as in a URL. */
  readonly host: string;
  /** Address of the HTTPS port; undefined if HTTPS is not served. */
  readonly secure: { readonly origin: string; readonly host: string; readonly port: number } | undefined;
  /** URLs in responses. They differ from `origin` if a proxy is configured. */
  readonly shown: ShownAddress;
}

/** Base URLs of the API and of Git remotes, without a trailing slash. */
export interface ShownAddress {
  readonly baseUrl: string;
  readonly gitUrl: string;
}

export interface ListenOptions extends Omit<AppOptions, 'organization' | 'origin' | 'isOriginGiven'> {
  readonly host: string;
  /** Binds the port of the organization at position `index`. Resolves to the port number. */
  readonly bind: (server: http.Server, index: number, isSecure: boolean) => Promise<number>;
  /** Parameters of the HTTPS servers, which run in addition to the HTTP servers; undefined if HTTPS is not served. */
  readonly secured?: HttpsParameters | undefined;
  /** URLs in responses of the first organization, if they differ from the address of its port. */
  readonly shown?: Partial<ShownAddress> | undefined;
  /** Other worlds (states of emulated services) that the first port also serves. The `Host` header selects them. */
  readonly others?: OtherWorlds & {
    /**
     * Returns a request listener that passes requests for other worlds (states of emulated services) to them. All other
     * requests go to `own`, the listener of the organization.
     */
    dispatch(own: http.RequestListener): http.RequestListener;
  };
}

/** Ports of one world (state of an emulated service). Each organization has its own port. */
export class Listeners {
  readonly all: Listener[] = [];
  private readonly drains: ((options: DrainOptions) => Promise<void>)[] = [];
  /** Request listener of the first organization; undefined before `open`. */
  app: http.RequestListener | undefined;

  /**
   * Opens the ports in the order of the organizations. Rejects with the error of the operating system. Ports that are
   * open by then stay open, so the caller must call `drain`.
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

  /** Stops listening on all ports. Running requests can finish within the time limits in `options`. */
  async drain(options: DrainOptions): Promise<void> {
    await Promise.all(this.drains.map((drain) => drain(options)));
  }
}

/**
 * Resolves when the service responds to a health request, because a listening port is not necessarily ready. Uses a
 * plain socket, because loading Node's HTTP client takes longer than the response.
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

/**
 * Binds the first free port of `ports` and resolves to its number. If none is free, rejects with the operating system's
 * error for the last port.
 */
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

/** Returns the host for URLs. For a wildcard address, this is the loopback address. */
function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return isIP(host) === 6 ? `[${host}]` : host;
}
