import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { MAX_HEADER_BYTES } from '../config/limits.js';
import { parseHost } from '../http/host.js';
import { lingeringClose } from '../http/lingering-close.js';
import { openTunnel, type Way } from './tunnel.js';

export interface ProxyOptions {
  /** Host names for which the proxy forwards connections to port 443 to the emulator. */
  readonly hosts: readonly string[];
  /** Host names to which the proxy opens the connection that the client requested. */
  readonly passed: readonly string[];
  /** Returns the outer proxy through which a host in `passed` is reached; undefined for a direct connection. */
  readonly through: (host: string, port: number) => URL | undefined;
  /** Port at which the emulator accepts TLS connections for `hosts`. */
  readonly port: number;
  /** Called once for each host, when the proxy first refuses a connection to it. */
  readonly onRefused: (host: string) => void;
  /** Milliseconds after which a tunnel is closed if one side has ended it and the other side sends nothing. */
  readonly halfOpenTimeout?: number;
}

/** HTTP proxy on the loopback interface, which exists while `emulator exec` runs a program. */
export interface Proxy {
  /** URL of the proxy, including the user name and password that the proxy requires. */
  readonly url: string;
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const USER = 'emulator';
const HTTPS = 443;
/** Maximum number of concurrent tunnels of the proxy. Clients open far fewer. */
const MAX_CONNECTIONS = 2_000;
/** Maximum number of refused hosts that are reported, so that a program with many hosts cannot fill the terminal. */
const MAX_REPORTED = 50;
/** Milliseconds within which a client must send its CONNECT request, and a host must accept the connection. */
const PATIENCE = 30_000;

type Refusal = readonly [status: string, sentence: string, header?: string];

/**
 * Opens an HTTP proxy that supports only CONNECT (RFC 9110, section 9.3.6). It cannot read the requests, because they
 * are sent by TLS inside the tunnel. It requires a random credential, because every program and web page on the machine
 * can reach it.
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
  /** Returns the destination of a tunnel to `target` (`host:port`), or the response that refuses it. */
  const findWay = (target: string | undefined): Way | Refusal => {
    const asked = target === undefined ? undefined : readTarget(target);
    if (!asked) return ['400 Bad Request', 'The target of CONNECT must be a host and a port, such as example.com:443.'];
    if (hosts.includes(asked.host)) {
      if (asked.port === HTTPS) return { host: LOOPBACK, port };
      return ['403 Forbidden', `The emulator serves only port ${HTTPS} of ${asked.host}, not port ${asked.port}.`];
    }
    if (passed.includes(asked.host)) {
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
          // Confirm the tunnel first, because all later bytes in it belong to the client and the server.
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

/** Hashes a credential, so that a comparison takes the same time for credentials of any length. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * Request line of CONNECT (RFC 9112, section 3). The proxy checks it itself, because Node's parser also accepts
 * HTTP/0.9 and repeated spaces.
 */
const REQUEST_LINE = /^CONNECT (\S+) HTTP\/1\.[01]\r?$/;

/** Calls `read` with the first line that a client sends, unchanged, before Node parses it. */
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
 * Parses the target of CONNECT, `host:port`; undefined if it is invalid. The port must be present (RFC 9110, section
 * 9.3.6) and have no leading zeros.
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
 * Connects two sockets: forwards bytes, ends and resets in both directions. If one side has ended and the other side
 * sends nothing for `halfOpenTimeout` milliseconds, both are closed.
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
