import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import dispatchers from './proxy-dispatcher.cjs';

/*
 * Module that lets old Node versions use the proxy of `emulator exec --api-host`. It sends `fetch` and `https.request`
 * through `https_proxy`, which these versions ignore. `NODE_OPTIONS` loads it into the program; it loads other modules
 * only when the program uses one of the two.
 */

type AgentOptions = Parameters<https.Agent['createConnection']>[0];
type OnSocket = (error: Error | null, stream: Duplex) => void;

/** Symbol of the global dispatcher. Node's own `fetch` and every copy of undici in a process share it. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');
const proxy = process.env.https_proxy;
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isServed = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);

if (proxy && !(isServed && process.env.NODE_USE_ENV_PROXY === '1')) {
  proxyFetch();
  proxyRequests(new URL(proxy));
}

function proxyFetch(): void {
  const set = (value: unknown) => {
    Object.defineProperty(globalThis, DISPATCHER, { configurable: true, writable: true, value });
  };
  Object.defineProperty(globalThis, DISPATCHER, {
    configurable: true,
    get: () => {
      const dispatcher = dispatchers.createProxyDispatcher();
      set(dispatcher);
      return dispatcher;
    },
    // Lets the program set its own dispatcher, which then replaces the one for the proxy.
    set,
  });
}

/** Replaces Node's global https agent with one that opens a tunnel through the proxy and runs TLS inside it. */
function proxyRequests({ hostname, port, username, password }: URL): void {
  const direct = (process.env.no_proxy ?? '').split(',').map((entry) => entry.replace(/^\*?\.?/, '').toLowerCase());
  const isDirect = (host: string) => direct.some((entry) => entry && (host === entry || host.endsWith(`.${entry}`)));
  const credential = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');

  class TunnelAgent extends https.Agent {
    override createConnection(options: AgentOptions, onSocket: OnSocket): Duplex | null | undefined {
      const host = String(options.host ?? 'localhost').toLowerCase();
      if (isDirect(host)) return super.createConnection(options, onSocket);
      const target = `${host.includes(':') ? `[${host}]` : host}:${options.port ?? 443}`;
      const headers = { host: target, 'proxy-authorization': `Basic ${credential}` };
      const fail = (error: Error) => onSocket(error, undefined as unknown as Duplex);
      http
        .request({ host: hostname, port, method: 'CONNECT', path: target, headers, agent: false })
        .once('error', fail)
        .once('connect', ({ statusCode, statusMessage }, socket) => {
          if (statusCode === 200) {
            onSocket(null, super.createConnection({ ...options, socket } as AgentOptions)!);
            return;
          }
          socket.destroy();
          fail(new Error(`The proxy answered ${statusCode} ${statusMessage} for ${target}.`));
        })
        .end();
      return undefined;
    }
  }
  https.globalAgent = new TunnelAgent({ keepAlive: true, timeout: 5_000 });
}
