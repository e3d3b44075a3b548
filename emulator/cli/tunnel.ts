import { request } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';

/** Where a tunnel leads. */
export interface Way {
  readonly host: string;
  readonly port: number;
  /** The proxy that it goes on by. */
  readonly through?: URL | undefined;
}

/** A tunnel that is open, and what has come through it already. */
export interface Tunnel {
  readonly socket: Socket;
  readonly first: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** Opens a connection, or a tunnel by another proxy (RFC 9110, 9.3.6). Rejects with why there is none. */
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

/** RFC 6066, 3: the name of a server is no address. */
function nameOf(host: string): { readonly servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}

/** As it was typed where it is no percent-encoding. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The socket ends with the signal, now and later. */
function connected(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const end = () => {
      reject(signal.reason);
      socket.destroy();
    };
    signal.addEventListener('abort', end, { once: true });
    socket.once('close', () => signal.removeEventListener('abort', end));
    // Also of one that nobody waits for any more.
    socket.on('error', reject).once(event, () => resolve(socket));
  });
}
