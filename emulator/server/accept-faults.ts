import { once } from 'node:events';
import type http from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAdminPath } from '../admin/path.js';
import { ArmedRequest } from '../faults/armed-request.js';
import type { Action } from '../faults/fault.js';
import type { FaultPlan } from '../faults/fault-plan.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import type { RequestFacts } from '../faults/request-facts.js';
import type { ConnectionNames } from '../pipeline/connection-names.js';
import { recordRequest } from '../pipeline/record-request.js';
import type { CurrentWorld } from '../world/current-world.js';
import type { World } from '../world/world.js';
import { connectionEvent } from './connection-event.js';

/** What stands for the operation while nothing has been read. */
const CONNECTION: FaultedOperation = {
  id: 'connection',
  group: '',
  subject: '',
  effect: 'read',
  scopes: [],
  routes: [],
};

/** Milliseconds that a connection is given to show what it is for. Most need none. */
const PATIENCE = 200;
/** Bytes that are looked at, until target and Host of the first request are there: the longest head that is read. */
const LOOKED_AT = 16 * 1024;

/** The worlds that a port leads to beside its own. */
export interface OtherWorlds {
  readonly areThere: boolean;
  /** Whether the `Host` of a request names one of them. */
  isNamedBy(host: string | undefined): boolean;
}

interface AdmissionPorts {
  readonly names: ConnectionNames;
  readonly others?: OtherWorlds | undefined;
}

/**
 * Lets connections meet the faults of the stage `accept` before the server begins to read them. One whose first request is
 * to the emulator's own routes meets none: they are how a fault is taken back. Nor does one whose first request is for
 * another world: the faults of a world are for the connections of its own port.
 */
export function admitConnections(server: http.Server, current: CurrentWorld, ports: AdmissionPorts): void {
  const event = connectionEvent(server);
  const [begin] = server.listeners(event) as [(this: http.Server, socket: Socket) => void];
  server.removeListener(event, begin);
  server.on(event, (socket: Socket) => {
    const { world } = current;
    const { faults } = world.state;
    const plan = faults.isIdle ? undefined : faults.planFor(CONNECTION);
    if (plan?.at.has('accept')) void admit(world, plan, { ...ports, socket, begin: () => begin.call(server, socket) });
    else begin.call(server, socket);
  });
}

interface Admission extends AdmissionPorts {
  readonly socket: Socket;
  readonly begin: () => void;
}

/** Of a connection nothing is known but that it is there, and its name. */
const CONNECTION_FACTS: Omit<RequestFacts, 'connection'> = {
  id: '',
  operation: CONNECTION,
  organizationName: '',
  repositoryName: undefined,
  verified: undefined,
  method: '',
  target: { query: '' },
  json: undefined,
  gitHead: undefined,
  scenario: undefined,
  header: () => undefined,
  stateRefusal: (code) => code,
};

async function admit(world: World, plan: FaultPlan, { socket, names, others, begin }: Admission): Promise<void> {
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  const fail = (): void => {
    socket.destroy();
  };
  socket.once('close', leave).on('error', fail);
  const proceed = (): void => {
    if (socket.destroyed) return;
    socket.off('close', leave).off('error', fail);
    begin();
  };
  if (await isExempt(socket, gone.signal, others)) {
    proceed();
    return;
  }
  if (gone.signal.aborted) return;
  const connection = names.nameOf(socket);
  const { faults } = world.state;
  const armed = new ArmedRequest(faults, world.background.latches, { ...CONNECTION_FACTS, connection }, plan);
  const chosen = armed.take('accept');
  const cut = chosen.find(({ action }) => 'cut' in action);
  if (cut) faults.noteTouched(cut.id, recordCut(world, connection, cut.id, armed.fired));
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
  proceed();
}

/** Looks at what a connection begins with, and leaves it there. */
async function isExempt(socket: Socket, signal: AbortSignal, others: OtherWorlds | undefined): Promise<boolean> {
  const seen: Buffer[] = [];
  const look = (): string => {
    for (let piece = socket.read(); piece !== null; piece = socket.read()) seen.push(piece);
    return Buffer.concat(seen).toString('latin1', 0, LOOKED_AT);
  };
  const isLed = others?.areThere ?? false;
  const isDecided = (text: string): boolean =>
    text.length === LOOKED_AT || (isLed && !isForAdmin(text) ? HEAD_OR_HOST.test(text) : /\n|^\S* \S* /.test(text));
  // Of signals that `AbortSignal.any` joins, one that nothing else holds is collected, and never fires.
  const patience = new AbortController();
  const stop = (): void => patience.abort();
  const timer = setTimeout(stop, PATIENCE);
  signal.addEventListener('abort', stop);
  let text = '';
  try {
    while (!isDecided(text) && !socket.readableEnded) {
      await once(socket, 'readable', { signal: patience.signal });
      text = look();
    }
  } catch {
    // It has said nothing, or has gone.
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
  if (seen.length > 0 && !socket.destroyed) socket.unshift(Buffer.concat(seen));
  return isForAdmin(text) || (isLed && others!.isNamedBy(FIRST_HOST.exec(text)?.[1]?.trim()));
}

function isForAdmin(text: string): boolean {
  return isAdminPath(FIRST_PATH.exec(text)?.[1] ?? '');
}

/** RFC 9112, 3: method SP request-target SP, of which the target may be a whole URL. */
const FIRST_PATH = /^[!-~]+ (?:https?:\/\/[^/?# ]*)?([^?#\\ ]*)/i;

/** RFC 9112, 5: lines of `name: value`, and an empty line behind them. */
const FIRST_HOST = /^(?:[^\r\n]+\r?\n)+?host:([^\r\n]*)/i;
const HEAD_OR_HOST = /\n\r?\n|\nhost:[^\n]*\n/i;

/** Adds the line of a connection without a request: when it came, its name, and the faults. Returns its id. */
function recordCut(world: World, connection: string, cut: string, faults: readonly string[]): string {
  const { journal, clock } = world.state;
  const id = world.nextRequestId();
  const why = [`${connection} was ended by ${cut} before anything of it was served.`];
  const stopped = 'faults.accept';
  const record = recordRequest(world, {
    id,
    time: clock.now(),
    origin: `injected:${cut}`,
    faults: [...faults],
    why,
    stopped,
  });
  journal.end(record, 'cut');
  return id;
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
