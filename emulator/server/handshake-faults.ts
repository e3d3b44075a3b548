import { once } from 'node:events';
import type http from 'node:http';
import type { Socket } from 'node:net';
import { ArmedRequest } from '../faults/armed-request.js';
import type { Tls } from '../faults/kinds/tls.js';
import type { ConnectionNames } from '../pipeline/connection-names.js';
import type { CurrentWorld } from '../world/current-world.js';
import { CONNECTION_FACTS, CONNECTION_OPERATION, recordCut } from './accept-faults.js';
import type { HttpsParameters } from './https-parameters.js';

/**
 * Makes an HTTPS server apply the faults (simulated failures) of the TLS handshake. They apply to every connection,
 * because its requests are not known yet.
 */
export function admitHandshakes(
  server: http.Server,
  current: CurrentWorld,
  { names, secured }: { readonly names: ConnectionNames; readonly secured: HttpsParameters },
): void {
  const [begin] = server.listeners('connection') as [(this: http.Server, socket: Socket) => void];
  server.removeListener('connection', begin);
  server.on('connection', (socket: Socket) => {
    const { world } = current;
    const { faults } = world.state;
    const plan = faults.isIdle ? undefined : faults.planFor(CONNECTION_OPERATION);
    const connection = plan?.at.has('handshake') ? names.nameOf(socket) : '';
    const armed =
      connection !== '' &&
      new ArmedRequest(faults, world.background.latches, { ...CONNECTION_FACTS, connection }, plan!);
    const [chosen] = armed ? armed.take('handshake') : [];
    if (!armed || !chosen || !('tls' in chosen.action)) {
      begin.call(server, socket);
      return;
    }
    const { id, action } = chosen;
    const effect = action.tls.how === 'reset' ? 'reset the TLS handshake of' : 'served an invalid certificate on';
    faults.noteTouched(id, recordCut(world, `The fault ${id} ${effect} ${connection}.`, id, armed.fired));
    socket.on('error', () => socket.destroy());
    void failHandshake(server, socket, action.tls, secured);
  });
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
