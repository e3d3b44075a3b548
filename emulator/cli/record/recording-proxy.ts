import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { operations } from '../../api/index.js';
import { MAX_HEADER_BYTES } from '../../config/limits.js';
import { parseHost, ServedHosts } from '../../http/host.js';
import { createSecureServer, createTls } from '../../tls/tls-service.js';
import { readOuterProxy, trustedCertificates } from '../proxied-environment.js';
import type { Terminal } from '../terminal.js';
import { openTunnel } from '../tunnel.js';
import { type End, Exchange } from './exchange.js';
import { type Connect, forward, Onward, onwardHeaders } from './forward.js';
import type { Recording } from './recording.js';

export interface Deployment {
  /** URLs of the deployment, without a path. */
  readonly apiUrl: URL;
  readonly gitUrl: URL;
  /** Host names that clients have built in, and that stand for the API and the Git remotes of the deployment. */
  readonly apiHosts: readonly string[];
  readonly gitHosts: readonly string[];
}

/** HTTP and HTTPS server on the loopback interface that forwards requests to a deployment, and records them. */
export interface RecordingProxy {
  readonly url: string;
  readonly secureUrl: string;
  readonly securePort: number;
  /** Certificate (PEM) that HTTPS clients must trust. */
  readonly trust: string;
  /** Ends all connections. Resolves when the recording contains all exchanges. */
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
/** Names under which clients reach the HTTPS port without a proxy. */
const OWN_NAMES = ['localhost', LOOPBACK];
/** Timeout for connecting to the deployment, in milliseconds. */
const CONNECT_TIMEOUT = 30_000;
/** Matches the paths of Git remotes. Decides between API and Git if the `Host` header of a request does not. */
const GIT_PATH = /\.git\/(?:info\/|git-|objects\/|HEAD$)/;

export async function startRecordingProxy(
  deployment: Deployment,
  recording: Recording,
  environment: Terminal['environment'],
): Promise<RecordingProxy> {
  const { apiUrl, gitUrl, apiHosts, gitHosts } = deployment;
  const tls = await createTls([...apiHosts, ...gitHosts, ...OWN_NAMES]);
  const connectTo = await connector(environment);
  const agents = new WeakMap<Socket, Map<string, Onward>>();
  const sockets = new Set<Socket>();
  const active = new Set<{ readonly exchange: Exchange; readonly done: Promise<void> }>();
  let count = 0;

  const served = new ServedHosts([...apiHosts, ...gitHosts]);
  /** Returns the reason to refuse a request; undefined if it is forwarded. */
  const refusalOf = ({ headers: { host }, url = '' }: IncomingMessage): string | undefined => {
    if (!/^[/*]/.test(url)) return 'The request target must be a path.';
    // A web page with a host name of its own could otherwise read the deployment (DNS rebinding).
    return host === undefined || isServed(served, host) ? undefined : 'The recording proxy does not serve this host.';
  };
  const deploymentOf = ({ headers, url = '' }: IncomingMessage): URL => {
    const host = (headers.host ?? '').replace(/:\d+$/, '').toLowerCase();
    const [isApi, isGit] = [apiHosts.includes(host), gitHosts.includes(host)];
    if (isApi !== isGit) return isGit ? gitUrl : apiUrl;
    return GIT_PATH.test(url.replace(/\?.*/s, '')) ? gitUrl : apiUrl;
  };
  const agentFor = (socket: Socket, to: URL): Onward => {
    const own = agents.get(socket) ?? new Map<string, Onward>();
    agents.set(socket, own);
    const agent = own.get(to.origin) ?? new Onward(connectTo(to));
    own.set(to.origin, agent);
    return agent;
  };
  const serve: RequestListener = (request: IncomingMessage, response: ServerResponse) => {
    const refusal = refusalOf(request);
    if (refusal !== undefined) {
      response.writeHead(400, { 'content-type': 'text/plain' }).end(`${refusal}\n`);
      return;
    }
    const to = deploymentOf(request);
    const options = { ...recording.options, origin: to.origin, order: ++count, operations };
    const exchange = new Exchange(request, onwardHeaders(request, to.host), options);
    const done = new Promise<void>((resolve) => {
      const onEnd = async (outcome: End) => {
        await exchange.end(outcome);
        recording.add(exchange);
        active.delete(entry);
        resolve();
      };
      try {
        forward(request, response, { exchange, agent: agentFor(request.socket, to), onEnd });
      } catch (error) {
        // Node's HTTP client refuses some requests that its server accepts, for example for their path.
        exchange.error = (error as Error).message;
        response.destroy();
        void onEnd('cut');
      }
    });
    const entry = { exchange, done };
    active.add(entry);
  };
  const open = async (server: Server): Promise<number> => {
    // A client may wait for its response as long as it likes, so this server has no timeouts of its own.
    Object.assign(server, { requestTimeout: 0, keepAliveTimeout: 0 });
    server.on('request', serve).on('checkContinue', serve).on('checkExpectation', serve);
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    const forget = (socket: Socket) => {
      socket.once('close', () => {
        for (const agent of agents.get(socket)?.values() ?? []) agent.destroy();
      });
    };
    server.on('connection', forget).on('secureConnection', forget);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, LOOPBACK, resolve);
    });
    return (server.address() as { readonly port: number }).port;
  };
  const limits = { maxHeaderSize: 4 * MAX_HEADER_BYTES, requireHostHeader: false };
  const plain = createServer(limits);
  const secure = createSecureServer({ ...limits, ...tls.identity });
  const [port, securePort] = await Promise.all([open(plain), open(secure)]);
  return {
    url: `http://${LOOPBACK}:${port}`,
    secureUrl: `https://${LOOPBACK}:${securePort}`,
    securePort,
    trust: tls.trust,
    close: async () => {
      const closed = [plain, secure].map((server) => new Promise((resolve) => server.close(resolve)));
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
      for (const { exchange } of active) exchange.stopSummaries();
      await Promise.all([...active].map(({ done }) => done));
      tls.renewal?.close();
    },
  };
}

function isServed(served: ServedHosts, host: string): boolean {
  try {
    return served.includes(parseHost(host));
  } catch {
    return false;
  }
}

/**
 * Returns a function that creates the connections to a deployment. They go through the outer proxy of the environment
 * variable `https_proxy`, and trust the same certificates as the recorded command.
 */
async function connector(environment: Terminal['environment']): Promise<(to: URL) => Connect> {
  const throughProxy = readOuterProxy(environment);
  const ca = await trustedCertificates(environment);
  return (to) => async (ended) => {
    const isSecure = to.protocol === 'https:';
    const host = to.hostname.replace(/^\[|\]$/g, '');
    const port = Number(to.port || (isSecure ? 443 : 80));
    const signal = AbortSignal.any([ended, AbortSignal.timeout(CONNECT_TIMEOUT)]);
    const through = isSecure ? throughProxy(host, port) : undefined;
    const { socket } = await openTunnel({ host, port, through }, signal);
    if (!isSecure) return socket;
    return new Promise((resolve, reject) => {
      const secured = connectTls({ socket, ca, ...(isIP(host) === 0 && { servername: host }) });
      secured.once('secureConnect', () => resolve(secured)).on('error', reject);
    });
  };
}
