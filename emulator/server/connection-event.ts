import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Returns the event that a server emits when a client can begin to speak HTTP: with TLS, after the handshake. */
export function connectionEvent(server: Server): 'connection' | 'secureConnection' {
  return server.listenerCount('secureConnection') > 0 ? 'secureConnection' : 'connection';
}

/** Returns the client's address and port. They are the same for a TCP connection and for the TLS connection over it. */
export function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
