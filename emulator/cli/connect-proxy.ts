import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { parseHost } from '../http/host.js';
import { lingeringClose } from '../http/lingering-close.js';
import { openTunnel, type Way } from './tunnel.js';

export interface ProxyOptions {
  /** Hosts whose port 443 is the emulator's. */
  readonly hosts: readonly string[];
  /** Hosts that are let through as they are. */
  readonly passed: readonly string[];
  /** The proxy by which one of these is reached; none: directly. */
  readonly through: (host: string, port: number) => URL | undefined;
  /** The port of the emulator that speaks TLS. */
  readonly port: number;
  /** Told of a host that was refused, the first time. */
  readonly onRefused: (host: string) => void;
  /** Milliseconds after which a tunnel ends if one side has ended and the other one is silent. */
  readonly halfOpenTimeout?: number;
}

/** A proxy on loopback, for one run. */
export interface Proxy {
  /** With its credential. */
  readonly url: string;
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const USER = 'emulator';
const HTTPS = 443;
/** Tunnels at a time, far above what a client opens. */
const MOST_CONNECTIONS = 2_000;
/** Hosts that are told of; a program that scans must not fill the terminal. */
const MOST_TOLD = 50;
/** Milliseconds that a connection is given to name its host, and a host to take the connection. */
const PATIENCE = 30_000;

type Refusal = readonly [status: string, sentence: string, header?: string];

/**
 * An HTTP proxy for CONNECT (RFC 9110, 9.3.6), and for nothing else: TLS is spoken behind it, so it sees no request. It
 * asks everybody for a credential that is made here, as every program and page on the machine can reach it.
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
  const told = new Set<string>();
  const requestLines = new WeakMap<object, string>();

  const isAllowed = ({ headers }: IncomingMessage): boolean => {
    const [, given] = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(headers['proxy-authorization'] ?? '') ?? [];
    return given !== undefined && timingSafeEqual(digestOf(given), expected);
  };
  /** Where a tunnel leads; or why there is none. */
  const findWay = (target: string | undefined): Way | Refusal => {
    const asked = target === undefined ? undefined : readTarget(target);
    if (!asked) return ['400 Bad Request', 'The target of CONNECT has to be a host and a port.'];
    if (hosts.includes(asked.host)) {
      if (asked.port === HTTPS) return { host: LOOPBACK, port };
      return ['403 Forbidden', `Of ${asked.host} port ${HTTPS} is served here, and no other.`];
    }
    if (passed.includes(asked.host)) {
      const { host, port } = asked;
      return { host: host.replace(/^\[|\]$/g, ''), port, through: through(host, port) };
    }
    if (told.size < MOST_TOLD && !told.has(asked.host)) {
      told.add(asked.host);
      onRefused(asked.host);
    }
    return ['403 Forbidden', `${asked.host} is not served here; --proxy-pass ${asked.host} lets it through.`];
  };

  const server = createServer({ headersTimeout: PATIENCE, requestTimeout: PATIENCE, maxHeaderSize: 16 * 1024 });
  server.maxConnections = MOST_CONNECTIONS;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
    onFirstLine(socket, (line) => requestLines.set(socket, line));
  });
  server.on('request', (request, response) => {
    const [status, sentence, header] = isAllowed(request)
      ? (['403 Forbidden', 'This proxy answers CONNECT only.'] as Refusal)
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
    const timer = setTimeout(() => end.abort(new Error('no answer in time')), PATIENCE);
    socket.once('close', () => end.abort(new Error('the client is gone')));
    openTunnel(way, end.signal)
      .then(
        ({ socket: onward, first }) => {
          sockets.add(onward);
          onward.once('close', () => sockets.delete(onward));
          // From here on what goes through the tunnel is not ours.
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
  'The proxy needs the credential of this run, which is in https_proxy.',
  'Proxy-Authenticate: Basic realm="emulator exec"',
];

/** Equally long whatever is given, so that they are compared in the same time. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Request line of CONNECT (RFC 9112, 3). Node's parser also accepts HTTP/0.9 and several spaces, and tells of neither. */
const REQUEST_LINE = /^CONNECT (\S+) HTTP\/1\.[01]\r?$/;

/** Calls back with the first line of a connection as it was sent, before Node parses it. */
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

/** `host:port`. RFC 9110, 9.3.6: there is no default port. A port is written in one way only, without leading zeros. */
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

/** Passes on bytes, ends and resets in both directions. After one side has ended, silence of the other ends the tunnel. */
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
