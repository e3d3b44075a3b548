import { once } from 'node:events';
import type http from 'node:http';
import type { Socket } from 'node:net';
import { ArmedRequest } from '../faults/armed-request.js';
import type { Action } from '../faults/fault.js';
import type { Tls } from '../faults/kinds/tls.js';
import type { ConnectionPosition } from '../faults/stage.js';
import type { ConnectionNames } from '../pipeline/connection-names.js';
import type { CurrentWorld } from '../world/current-world.js';
import { CONNECTION_FACTS, CONNECTION_OPERATION, recordCut } from './accept-faults.js';
import type { HttpsParameters } from './https-parameters.js';
import { RefusablePort } from './refusable-port.js';

interface TcpPorts {
  readonly names: ConnectionNames;
  /** Parameters of the HTTPS server; undefined for an HTTP server. */
  readonly secured: HttpsParameters | undefined;
}

/**
 * Makes a server apply the faults (simulated failures) that happen before HTTP: refused connections and failed TLS
 * handshakes. They apply to every connection, because the requests on it are not known yet.
 */
export function admitTcpConnections(server: http.Server, current: CurrentWorld, { names, secured }: TcpPorts): void {
  const port = new RefusablePort(server);
  const [begin] = server.listeners('connection') as [(this: http.Server, socket: Socket) => void];
  server.removeListener('connection', begin);
  server.on('connection', (socket: Socket) => {
    const { world } = current;
    const { faults } = world.state;
    const plan = faults.isIdle ? undefined : faults.planFor(CONNECTION_OPERATION);
    const positions = (secured ? ['connect', 'handshake'] : ['connect']) as readonly ConnectionPosition[];
    if (!plan || !positions.some((position) => plan.at.has(position))) {
      begin.call(server, socket);
      return;
    }
    const connection = names.nameOf(socket);
    const armed = new ArmedRequest(faults, world.background.latches, { ...CONNECTION_FACTS, connection }, plan);
    const [chosen] = positions.flatMap((position) => armed.take(position));
    if (!chosen) {
      begin.call(server, socket);
      return;
    }
    const { id, action } = chosen;
    faults.noteTouched(id, recordCut(world, `The fault ${id} ${effectOf(action)} ${connection}.`, id, armed.fired));
    socket.on('error', () => socket.destroy());
    if ('refuse' in action) {
      port.refuse(action.refuse.ms);
      socket.resetAndDestroy();
    } else if ('tls' in action) void failHandshake(server, socket, action.tls, secured!);
  });
}

function effectOf(action: Action): string {
  if ('refuse' in action) return 'refuses connections, and has reset';
  return 'tls' in action && action.tls.how === 'reset'
    ? 'reset the TLS handshake of'
    : 'served an invalid certificate on';
}

/**
 * Lets a TLS handshake fail. Clients that accept the invalid certificate are served like others, because the failure is
 * a decision of the client.
 */
async function failHandshake(
  server: http.Server,
  socket: Socket,
  { how }: Tls,
  { createServer, invalidIdentity }: HttpsParameters,
): Promise<void> {
  if (how === 'reset') {
    // Waits for the first message of the client, so that the client is in the middle of the handshake.
    await once(socket, 'readable').catch(() => undefined);
    socket.resetAndDestroy();
    return;
  }
  const { cert, key } = await invalidIdentity(how);
  const other = createServer({ cert, key, allowHalfOpen: true });
  other.removeAllListeners('secureConnection').removeAllListeners('tlsClientError');
  other.on('secureConnection', (secure) => server.emit('secureConnection', secure));
  other.on('tlsClientError', () => socket.destroy());
  other.emit('connection', socket);
}
