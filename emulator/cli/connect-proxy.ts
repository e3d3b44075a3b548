import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { MAX_HEADER_BYTES } from '../config/limits.js';
import { parseHost } from '../http/host.js';
import { lingeringClose } from '../http/lingering-close.js';
import { openTunnel, type Way } from './tunnel.js';

export interface ProxyOptions {
  /** Host names that the emulator serves. The proxy forwards connections to their port 443 to the emulator. */
  readonly hosts: readonly string[];
  /**
   * Host names that the proxy lets pass: it opens the connection that the client requested. `all` for all other hosts.
   */
  readonly passed: readonly string[] | 'all';
  /** Returns the outer proxy for reaching a host in `passed`; undefined for a direct connection. */
  readonly through: (host: string, port: number) => URL | undefined;
  /** Port on which the emulator accepts TLS connections for `hosts`. */
  readonly port: number;
  /** Called when the proxy refuses a connection to a host for the first time. */
  readonly onRefused: (host: string) => void;
  /**
   * Time in milliseconds after which a half-closed tunnel is closed. One side has ended it, and the other side sends
   * nothing.
   */
  readonly halfOpenTimeout?: number;
}

/** HTTP proxy on the loopback interface. It runs while `emulator exec` runs a program. */
export interface Proxy {
  /** URL of the proxy, with the user name and password that it requires. */
  readonly url: string;
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const USER = 'emulator';
const HTTPS = 443;
/** Maximum number of concurrent tunnels. Clients open far fewer. */
const MAX_CONNECTIONS = 2_000;
/** Maximum number of refused hosts to report, so that a program with many hosts cannot fill the terminal. */
const MAX_REPORTED = 50;
/** Timeout in milliseconds for a client to send its CONNECT request, and for a host to accept the connection. */
const PATIENCE = 30_000;

type Refusal = readonly [status: string, sentence: string, header?: string];

/**
 * Opens an HTTP proxy that supports only CONNECT (RFC 9110, section 9.3.6). It cannot read the requests, because TLS
 * encrypts them inside the tunnel. It requires a random password, because every program and web page on the machine can
 * reach it.
 */
export async function openProxy({
  hosts,
  passed,
  through,
  port,
  onRefused,
  halfOpenTimeout = PATIENCE,
}: ProxyOptions): Promise<Proxy> {
  const password = randomBytes(24).toString('base64url');
  const expected = digestOf(Buffer.from(`${USER}:${password}`).toString('base64'));
  const sockets = new Set<Socket>();
  const reportedHosts = new Set<string>();
  const requestLines = new WeakMap<object, string>();

  const isAllowed = ({ headers }: IncomingMessage): boolean => {
    const [, given] = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(headers['proxy-authorization'] ?? '') ?? [];
    return given !== undefined && timingSafeEqual(digestOf(given), expected);
  };
  /** Returns where a tunnel to `target` (`host:port`) must lead, or the response that refuses the tunnel. */
  const findWay = (target: string | undefined): Way | Refusal => {
    const asked = target === undefined ? undefined : readTarget(target);
    if (!asked) return ['400 Bad Request', 'The target of CONNECT must be a host and a port, such as example.com:443.'];
    if (hosts.includes(asked.host)) {
      if (asked.port === HTTPS) return { host: LOOPBACK, port };
      return ['403 Forbidden', `The emulator serves only port ${HTTPS} of ${asked.host}, not port ${asked.port}.`];
    }
    if (passed === 'all' || passed.includes(asked.host)) {
      const { host, port } = asked;
      return { host: host.replace(/^\[|\]$/g, ''), port, through: through(host, port) };
    }
    if (reportedHosts.size < MAX_REPORTED && !reportedHosts.has(asked.host)) {
      reportedHosts.add(asked.host);
      onRefused(asked.host);
    }
    return [
      '403 Forbidden',
      `Connections to ${asked.host} are not allowed. Start emulator exec with --proxy-pass ${asked.host} to allow them.`,
    ];
  };

  const server = createServer({ headersTimeout: PATIENCE, requestTimeout: PATIENCE, maxHeaderSize: MAX_HEADER_BYTES });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
    onFirstLine(socket, (line) => requestLines.set(socket, line));
  });
  server.on('request', (request, response) => {
    const [status, sentence, header] = isAllowed(request)
      ? (['403 Forbidden', 'This proxy supports only the method CONNECT, for HTTPS.'] as Refusal)
      : UNKNOWN;
    const [name, value] = header?.split(': ') ?? [];
    if (name !== undefined) response.setHeader(name, value!);
    response.writeHead(Number(status.slice(0, 3)), { 'content-type': 'text/plain', connection: 'close' });
    response.end(`${sentence}\n`);
  });
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const [, target] = REQUEST_LINE.exec(requestLines.get(socket) ?? '') ?? [];
    const way = isAllowed(request) ? findWay(target) : UNKNOWN;
    if (!('host' in way)) {
      refuse(socket, way);
      return;
    }
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(new Error(`it did not respond within ${PATIENCE} ms`)), PATIENCE);
    socket.once('close', () => end.abort(new Error('the client disconnected')));
    openTunnel(way, end.signal)
      .then(
        ({ socket: onward, first }) => {
          sockets.add(onward);
          onward.once('close', () => sockets.delete(onward));
          // Confirms the tunnel first. All later bytes in it belong to the client and the server.
          socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
          if (first.length > 0) socket.write(first);
          if (head.length > 0) onward.write(head);
          join(socket, onward, halfOpenTimeout);
        },
        ({ message }: Error) => refuse(socket, ['502 Bad Gateway', `${way.host} cannot be reached: ${message}.`]),
      )
      .finally(() => clearTimeout(timer));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, LOOPBACK, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${USER}:${password}@${LOOPBACK}:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

const UNKNOWN: Refusal = [
  '407 Proxy Authentication Required',
  'The proxy requires the user name and password in the variable https_proxy of this run.',
  'Proxy-Authenticate: Basic realm="emulator exec"',
];

/** Hashes a credential, so that comparing takes the same time for credentials of any length. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * Matches the request line of CONNECT (RFC 9112, section 3). Needed because Node's parser also accepts HTTP/0.9 and
 * repeated spaces.
 */
const REQUEST_LINE = /^CONNECT (\S+) HTTP\/1\.[01]\r?$/;

/** Calls `read` with the first line that a client sends, exactly as sent, before Node parses it. */
function onFirstLine(socket: Socket, read: (line: string) => void): void {
  let text = '';
  const look = (piece: Buffer) => {
    text += piece.toString('latin1');
    const end = text.indexOf('\n');
    if (end === -1) return;
    socket.off('data', look);
    read(text.slice(0, end));
  };
  socket.prependListener('data', look);
}

/**
 * Parses the target of CONNECT, `host:port`. Returns undefined if it is invalid. The port is required (RFC 9110,
 * section 9.3.6) and must not have leading zeros.
 */
function readTarget(target: string): { host: string; port: number } | undefined {
  const [, host = '', digits] = /^(\[[^[\]]*\]|[^:[\]]+):([1-9]\d{0,4})$/.exec(target) ?? [];
  const port = Number(digits);
  if (host === '' || port > 65_535) return undefined;
  try {
    return { host: parseHost(host), port };
  } catch {
    return undefined;
  }
}

function refuse(socket: Socket, [status, sentence, header]: Refusal): void {
  const body = `${sentence}\n`;
  const fields = [`Content-Length: ${Buffer.byteLength(body)}`, 'Content-Type: text/plain', 'Connection: close'];
  if (header !== undefined) fields.push(header);
  socket.write(`HTTP/1.1 ${status}\r\n${fields.join('\r\n')}\r\n\r\n${body}`);
  socket.resume();
  lingeringClose(socket);
}

/**
 * Connects two sockets. Forwards bytes, ends and resets in both directions. Closes both sockets if one side has ended
 * and the other sends nothing for `halfOpenTimeout` milliseconds.
 */
function join(one: Socket, other: Socket, halfOpenTimeout: number): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.setNoDelay(true);
    from.pipe(to);
    from.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET') to.resetAndDestroy();
      else to.destroy();
    });
    from.once('end', () => {
      to.setTimeout(halfOpenTimeout, () => {
        from.destroy();
        to.destroy();
      });
    });
    from.once('close', () => {
      if (!from.readableEnded) to.destroy();
    });
  }
}
