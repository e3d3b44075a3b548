import { request } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';

/** Route of a TCP connection: its destination, and the proxy that it goes through. */
export interface Way {
  readonly host: string;
  readonly port: number;
  /** Proxy through which the connection is opened; undefined for a direct connection. */
  readonly through?: URL | undefined;
}

/** Open connection to a destination. `first` contains the bytes from the destination that were already read. */
export interface Tunnel {
  readonly socket: Socket;
  readonly first: Buffer;
}

const NOTHING = Buffer.alloc(0);

/**
 * Opens a direct connection, or a tunnel through another proxy (RFC 9110, section 9.3.6). Rejects with the reason if it
 * fails.
 */
export async function openTunnel(way: Way, signal: AbortSignal): Promise<Tunnel> {
  const { host, port, through } = way;
  if (!through)
    return { socket: await connected(connect({ host, port, allowHalfOpen: true }), 'connect', signal), first: NOTHING };
  const { hostname, username, password } = through;
  const isSecure = through.protocol === 'https:';
  const to = {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(through.port || (isSecure ? 443 : 80)),
    allowHalfOpen: true,
  };
  const proxy = isSecure
    ? await connected((await import('node:tls')).connect({ ...to, ...nameOf(to.host) }), 'secureConnect', signal)
    : await connected(connect(to), 'connect', signal);
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const credential = Buffer.from(`${decode(username)}:${decode(password)}`).toString('base64');
  const headers = { host: target, ...(username !== '' && { 'proxy-authorization': `Basic ${credential}` }) };
  return new Promise((resolve, reject) => {
    const refuse = (status: number | undefined, reason = '') => {
      proxy.destroy();
      reject(new Error(`the proxy ${through.host} answered ${status} ${reason}`.trimEnd()));
    };
    request({ method: 'CONNECT', path: target, headers, createConnection: () => proxy })
      .once('error', reject)
      .once('response', ({ statusCode, statusMessage }) => refuse(statusCode, statusMessage))
      .once('connect', ({ statusCode = 0, statusMessage }, socket, first) => {
        if (statusCode >= 200 && statusCode < 300) resolve({ socket: socket as Socket, first });
        else refuse(statusCode, statusMessage);
      })
      .once('close', () => reject(new Error(`the proxy ${through.host} closed the connection`)))
      .end();
  });
}

/**
 * Returns the TLS option for the server name of a host. Empty for an IP address, which TLS does not allow as a server
 * name (RFC 6066, section 3).
 */
function nameOf(host: string): { readonly servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}

/** Decodes percent-encoding. Returns text with an invalid encoding unchanged. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Resolves when a socket is connected. Destroys the socket when `signal` is aborted, even after the connection. */
function connected(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const end = () => {
      reject(signal.reason);
      socket.destroy();
    };
    signal.addEventListener('abort', end, { once: true });
    socket.once('close', () => signal.removeEventListener('abort', end));
    // Registers with `on`, so that the listener also handles errors after the connection is open.
    socket.on('error', reject).once(event, () => resolve(socket));
  });
}
