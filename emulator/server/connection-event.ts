import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** What a server says when a client can begin to speak HTTP: with TLS, after the handshake. */
export function connectionEvent(server: Server): 'connection' | 'secureConnection' {
  return server.listenerCount('secureConnection') > 0 ? 'secureConnection' : 'connection';
}

/** The same of a connection and of the TLS that is spoken over it. */
export function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
