import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { MAX_HEADER_BYTES } from '../config/limits.js';
import { parseHost } from '../http/host.js';
import { lingeringClose } from '../http/lingering-close.js';
import { openTunnel, type Way } from './tunnel.js';

export interface ProxyOptions {
  /** Hosts whose port 443 is forwarded to the emulator. */
  readonly hosts: readonly string[];
  /** Hosts to which connections are passed through. */
  readonly passed: readonly string[];
  /** Returns the proxy for a passed-through host; undefined for a direct connection. */
  readonly through: (host: string, port: number) => URL | undefined;
  /** TLS port of the emulator. */
  readonly port: number;
  /** Called the first time that a host is refused. */
  readonly onRefused: (host: string) => void;
  /** Timeout in milliseconds of a half-closed tunnel whose other side is silent. */
  readonly halfOpenTimeout?: number;
}

/** Proxy on the loopback interface, for one run. */
export interface Proxy {
  /** URL including the credential. */
  readonly url: string;
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const USER = 'emulator';
const HTTPS = 443;
/** Maximum concurrent tunnels, far above what a client opens. */
const MAX_CONNECTIONS = 2_000;
/** Maximum number of refused hosts reported, so that a scanning program does not fill the terminal. */
const MAX_REPORTED = 50;
/** Milliseconds that a client must send its request, and that a host must accept the connection. */
const PATIENCE = 30_000;

type Refusal = readonly [status: string, sentence: string, header?: string];

/**
 * HTTP proxy for CONNECT only (RFC 9110, section 9.3.6). TLS inside the tunnel hides the requests from it. It requires
 * a random credential, because every program and web page on the machine can reach it.
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
  /** Returns the destination of a tunnel, or a refusal. */
  const findWay = (target: string | undefined): Way | Refusal => {
    const asked = target === undefined ? undefined : readTarget(target);
    if (!asked) return ['400 Bad Request', 'The target of CONNECT must be a host and a port.'];
    if (hosts.includes(asked.host)) {
      if (asked.port === HTTPS) return { host: LOOPBACK, port };
      return ['403 Forbidden', `The emulator serves only port ${HTTPS} of ${asked.host}.`];
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
      `The emulator does not serve ${asked.host}; --proxy-pass ${asked.host} permits connections to it.`,
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
      ? (['403 Forbidden', 'This proxy supports only CONNECT.'] as Refusal)
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
    const timer = setTimeout(() => end.abort(new Error('no response before the timeout')), PATIENCE);
    socket.once('close', () => end.abort(new Error('the client disconnected')));
    openTunnel(way, end.signal)
      .then(
        ({ socket: onward, first }) => {
          sockets.add(onward);
          onward.once('close', () => sockets.delete(onward));
          // From here on, the bytes in the tunnel belong to the client and the server.
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
  'The proxy requires the credentials in https_proxy of this run.',
  'Proxy-Authenticate: Basic realm="emulator exec"',
];

/** Hashes a credential, so that comparisons take the same time whatever the length of the input. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * Request line of CONNECT (RFC 9112, section 3). Node's parser also accepts HTTP/0.9 and repeated spaces, without
 * reporting them.
 */
const REQUEST_LINE = /^CONNECT (\S+) HTTP\/1\.[01]\r?$/;

/** Calls back with the first line of a connection as sent, before Node parses it. */
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

/** Parses `host:port`. There is no default port (RFC 9110, section 9.3.6). A port with leading zeros is refused. */
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
 * Forwards bytes, ends and resets in both directions. After one side has ended, a timeout of the other side closes the
 * tunnel.
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
