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

/**
 * Placeholder for the operation of a connection whose first request has not been read. Faults (simulated failures) are
 * matched against it.
 */
const CONNECTION_OPERATION: FaultedOperation = {
  id: 'connection',
  group: '',
  subject: '',
  effect: 'read',
  scopes: [],
  routes: [],
};

/**
 * Maximum time in milliseconds (real time) to wait for the first bytes of a connection. Most connections do not have to
 * wait.
 */
const FIRST_BYTES_TIMEOUT = 200;
/**
 * Maximum number of bytes in which the path and the `Host` of the first request are searched. It is the maximum size of
 * a header.
 */
const MAX_INSPECTED_BYTES = 16 * 1024;

/** Worlds (states of emulated services) that a port serves in addition to its own, depending on `Host`. */
export interface OtherWorlds {
  /** True if the port serves at least one other world (state of an emulated service). */
  readonly hasAny: boolean;
  /**
   * Returns true if `host`, the `Host` header of a request, names one of these worlds (states of emulated services).
   */
  isNamedBy(host: string | undefined): boolean;
}

interface AdmissionPorts {
  readonly names: ConnectionNames;
  readonly others?: OtherWorlds | undefined;
}

/**
 * Makes a server apply the faults (simulated failures) of the stage `accept` to new connections, before it reads from
 * them. Two kinds of connections are exempt. If the first request is for the admin API, it may be the one that removes
 * a fault. If it is for another world, the fault does not apply, because the faults of a world are for connections to
 * its own port.
 */
export function admitConnections(server: http.Server, current: CurrentWorld, ports: AdmissionPorts): void {
  const event = connectionEvent(server);
  const [begin] = server.listeners(event) as [(this: http.Server, socket: Socket) => void];
  server.removeListener(event, begin);
  server.on(event, (socket: Socket) => {
    const { world } = current;
    const { faults } = world.state;
    const plan = faults.isIdle ? undefined : faults.planFor(CONNECTION_OPERATION);
    if (plan?.at.has('accept')) void admit(world, plan, { ...ports, socket, begin: () => begin.call(server, socket) });
    else begin.call(server, socket);
  });
}

interface Admission extends AdmissionPorts {
  readonly socket: Socket;
  readonly begin: () => void;
}

/** Facts against which faults (simulated failures) are matched when nothing of a connection is known but its name. */
const CONNECTION_FACTS: Omit<RequestFacts, 'connection'> = {
  id: '',
  operation: CONNECTION_OPERATION,
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
  const disconnected = new AbortController();
  const onClose = (): void => disconnected.abort();
  const onError = (): void => {
    socket.destroy();
  };
  socket.once('close', onClose).on('error', onError);
  const proceed = (): void => {
    if (socket.destroyed) return;
    socket.off('close', onClose).off('error', onError);
    begin();
  };
  if (await isExempt(socket, disconnected.signal, others)) {
    proceed();
    return;
  }
  if (disconnected.signal.aborted) return;
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
      await delay(action, armed, disconnected.signal);
    }
  } catch {
    // An error means that the client has disconnected, so there is nothing to continue.
    return;
  }
  proceed();
}

/**
 * Reads the first bytes of a connection and puts them back for the HTTP parser. Returns true if no fault (simulated
 * failure) may apply to the connection, because its first request is for the admin API or for another world.
 */
async function isExempt(socket: Socket, signal: AbortSignal, others: OtherWorlds | undefined): Promise<boolean> {
  const seen: Buffer[] = [];
  const readAvailable = (): string => {
    for (let piece = socket.read(); piece !== null; piece = socket.read()) seen.push(piece);
    return Buffer.concat(seen).toString('latin1', 0, MAX_INSPECTED_BYTES);
  };
  const hasOtherWorlds = others?.hasAny ?? false;
  const isDecided = (text: string): boolean =>
    text.length === MAX_INSPECTED_BYTES ||
    (hasOtherWorlds && !isForAdmin(text) ? HEADER_OR_HOST.test(text) : /\n|^\S* \S* /.test(text));
  // The two signals are joined by hand. A signal of `AbortSignal.any` that nothing else references is garbage-collected
  // and never fires.
  const timeout = new AbortController();
  const stop = (): void => timeout.abort();
  const timer = setTimeout(stop, FIRST_BYTES_TIMEOUT);
  signal.addEventListener('abort', stop);
  let text = '';
  try {
    while (!isDecided(text) && !socket.readableEnded) {
      await once(socket, 'readable', { signal: timeout.signal });
      text = readAvailable();
    }
  } catch {
    // An error means that the client has sent nothing in time or has disconnected. The bytes that were read so far
    // decide.
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
  if (seen.length > 0 && !socket.destroyed) socket.unshift(Buffer.concat(seen));
  return isForAdmin(text) || (hasOtherWorlds && others!.isNamedBy(HOST_HEADER.exec(text)?.[1]?.trim()));
}

function isForAdmin(text: string): boolean {
  return isAdminPath(REQUEST_PATH.exec(text)?.[1] ?? '');
}

/**
 * Pattern that finds the path in a request line (RFC 9112, section 3: method SP request-target SP). The target may be a
 * whole URL.
 */
const REQUEST_PATH = /^[!-~]+ (?:https?:\/\/[^/?# ]*)?([^?#\\ ]*)/i;

/** Pattern that finds the `Host` header among the lines of a request header (RFC 9112, section 5: `name: value`). */
const HOST_HEADER = /^(?:[^\r\n]+\r?\n)+?host:([^\r\n]*)/i;
/** Pattern that matches a complete request header, or an incomplete one that contains a complete `Host` line. */
const HEADER_OR_HOST = /\n\r?\n|\nhost:[^\n]*\n/i;

/**
 * Adds a connection that a fault ended before its first request to the journal (list of all requests, for tests). The
 * record contains the time, the name of the connection and the faults. Returns the id of the record.
 */
function recordCut(world: World, connection: string, cut: string, faults: readonly string[]): string {
  const { journal, clock } = world.state;
  const id = world.nextRequestId();
  const why = [`The fault ${cut} closed ${connection} before any response.`];
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
  // Data of the client is read and discarded, so that the end of the connection is noticed. After a stall, only the
  // client can end the connection.
  else socket.resume();
  if (how === 'fin' || how === 'end') socket.end();
}
