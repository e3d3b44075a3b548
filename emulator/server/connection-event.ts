import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Returns the name of the server event after which a client can send HTTP. With TLS, this event follows the handshake.
 */
export function connectionEvent(server: Server): 'connection' | 'secureConnection' {
  return server.listenerCount('secureConnection') > 0 ? 'secureConnection' : 'connection';
}

/**
 * Returns the address and port of the client. They are the same for a TLS connection and the TCP connection below it,
 * so they identify the pair.
 */
export function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
