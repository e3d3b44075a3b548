import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Returns the name of the event that a server emits when a client can begin to send HTTP. With TLS, this is after the
 * handshake.
 */
export function connectionEvent(server: Server): 'connection' | 'secureConnection' {
  return server.listenerCount('secureConnection') > 0 ? 'secureConnection' : 'connection';
}

/**
 * Returns the address and port of the client, by which a TLS connection is matched with the TCP connection below it.
 * Both have the same address and port.
 */
export function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
