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
import type { RefusablePort } from './refusable-port.js';

/**
 * Placeholder operation for a connection whose first request has not been read. Faults (simulated failures) are matched
 * against an operation.
 */
export const CONNECTION_OPERATION: FaultedOperation = {
  id: 'connection',
  group: '',
  subject: '',
  effect: 'read',
  scopes: [],
  routes: [],
};

/**
 * Maximum time to wait for the first bytes of a connection, in milliseconds of real time. Most connections need not
 * wait.
 */
const FIRST_BYTES_TIMEOUT = 200;
/**
 * Maximum number of bytes that are searched for the path and `Host` of the first request. It is the maximum size of a
 * request header.
 */
const MAX_INSPECTED_BYTES = 16 * 1024;

/** Worlds (states of emulated services) that a port serves besides its own world. The `Host` header selects them. */
export interface OtherWorlds {
  /** True if the port serves at least one other world (state of an emulated service). */
  readonly hasAny: boolean;
  /**
   * Returns true if `host` selects one of the other worlds (states of emulated services). `host` is the `Host` header
   * of a request.
   */
  isNamedBy(host: string | undefined): boolean;
}

interface AdmissionPorts {
  readonly names: ConnectionNames;
  readonly port: RefusablePort;
  readonly others?: OtherWorlds | undefined;
}

/**
 * Makes a server apply faults (simulated failures) of the stage `accept` to new connections. They are applied before
 * the server reads from a connection, with two exceptions. If the first request is for the admin API, it may be the
 * request that removes the fault. If it is for another world, the faults do not apply, because a world's faults are
 * only for its own port.
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

/** Facts for matching faults (simulated failures) when only the name of a connection is known. */
export const CONNECTION_FACTS: Omit<RequestFacts, 'connection'> = {
  id: '',
  operation: CONNECTION_OPERATION,
  organizationName: '',
  repositoryName: undefined,
  verified: undefined,
  method: '',
  target: { query: '' },
  bodyValues: [],
  gitHead: undefined,
  scenario: undefined,
  header: () => undefined,
  stateRefusal: (code) => code,
};

async function admit(world: World, plan: FaultPlan, { socket, names, others, port, begin }: Admission): Promise<void> {
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
  const cut = chosen.find(({ action }) => 'cut' in action || 'refuse' in action);
  if (cut)
    faults.noteTouched(
      cut.id,
      recordCut(world, `The fault ${cut.id} closed ${connection} before any response.`, cut.id, armed.fired),
    );
  try {
    for (const { action } of chosen) {
      if ('cut' in action) {
        endConnection(socket, action.cut.how ?? 'fin');
        return;
      }
      if ('refuse' in action) {
        port.refuse(action.refuse.ms);
        socket.resetAndDestroy();
        return;
      }
      await delay(action, armed, disconnected.signal);
    }
  } catch {
    // An error means that the client has disconnected, so the connection ends here.
    return;
  }
  proceed();
}

/**
 * Reads the first bytes of a connection, and puts them back for the HTTP parser. Returns true if faults (simulated
 * failures) do not apply, because the first request is for the admin API or another world.
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
  // The two signals are joined by hand. A signal from `AbortSignal.any` that nothing else references is
  // garbage-collected and never fires.
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
    // An error means that the client sent nothing in time or has disconnected. The result then depends on the bytes
    // read so far.
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
 * Finds the path in a request line (RFC 9112, section 3: method SP request-target SP). The target may be a whole URL.
 */
const REQUEST_PATH = /^[!-~]+ (?:https?:\/\/[^/?# ]*)?([^?#\\ ]*)/i;

/** Finds the `Host` line in a request header (RFC 9112, section 5: `name: value`). */
const HOST_HEADER = /^(?:[^\r\n]+\r?\n)+?host:([^\r\n]*)/i;
/** Matches a complete request header, or an incomplete header that has a complete `Host` line. */
const HEADER_OR_HOST = /\n\r?\n|\nhost:[^\n]*\n/i;

/**
 * Records a connection that a fault ended before its first request. The record is added to the journal (list of all
 * requests, for tests). It has the time, the reason and the faults. Returns the id of the record.
 */
export function recordCut(world: World, reason: string, cut: string, faults: readonly string[]): string {
  const { journal, clock } = world.state;
  const id = world.nextRequestId();
  const why = [reason];
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
  // Data from the client is read and discarded, so that the end of the connection is noticed. After a stall, only the
  // client can end the connection.
  else socket.resume();
  if (how === 'fin' || how === 'end') socket.end();
}
