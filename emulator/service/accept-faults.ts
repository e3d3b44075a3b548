import type http from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ArmedRequest } from '../faults/armed-request.js';
import type { Action } from '../faults/fault.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import type { RequestFacts } from '../faults/request-facts.js';
import type { CurrentWorld } from '../world/current-world.js';
import type { World } from '../world/world.js';

/** What stands for the operation while nothing has been read. */
const CONNECTION: FaultedOperation = { id: 'connection', group: '', subject: '' };

/** Of a connection nothing is known but that it is there. */
const FACTS: RequestFacts = {
  id: '',
  operation: CONNECTION,
  organization: '',
  repository: undefined,
  token: undefined,
  method: '',
  query: new URLSearchParams(),
  body: undefined,
  git: undefined,
  scenario: undefined,
  connection: '',
  header: () => undefined,
  isInTheWay: () => true,
};

/** Lets connections meet the faults of the stage `accept` before the server begins to read them. */
export function admitConnections(server: http.Server, current: CurrentWorld): void {
  const [begin] = server.listeners('connection') as [(this: http.Server, socket: Socket) => void];
  server.removeListener('connection', begin);
  server.on('connection', (socket: Socket) => {
    const { world } = current;
    if (world.state.faults.isIdle) begin.call(server, socket);
    else void admit(world, socket, () => begin.call(server, socket));
  });
}

async function admit(world: World, socket: Socket, begin: () => void): Promise<void> {
  const { faults } = world.state;
  const armed = new ArmedRequest(faults, world.background.latches, FACTS, faults.planFor(CONNECTION));
  const chosen = armed.take('accept');
  if (chosen.length === 0) {
    begin();
    return;
  }
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  const fail = (): void => {
    socket.destroy();
  };
  socket.once('close', leave).on('error', fail);
  try {
    for (const { action } of chosen) {
      if ('cut' in action) {
        endConnection(socket, action.cut.how ?? 'fin');
        return;
      }
      await delay(action, armed, gone.signal);
    }
  } catch {
    // The client has gone.
    return;
  }
  if (socket.destroyed) return;
  socket.off('close', leave).off('error', fail);
  begin();
}

async function delay(action: Action, armed: ArmedRequest, signal: AbortSignal): Promise<void> {
  if ('latency' in action) await sleep(action.latency.ms, undefined, { signal });
  else if ('hold' in action) await armed.released(action.hold, signal);
}

function endConnection(socket: Socket, how: Extract<Action, { cut: unknown }>['cut']['how']): void {
  if (how === 'rst') socket.resetAndDestroy();
  // Otherwise what the client sends is read and not looked at; after a stall its own end is the only one.
  else socket.resume();
  if (how === 'fin' || how === 'end') socket.end();
}
