import { once } from 'node:events';
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { setTimeout as startTimer } from 'node:timers';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { discardRest, lingeringClose } from './lingering-close.js';
import { bodyOf, type ConnectionEnding, describeBody, isStream, type Pace, type Reply } from './reply.js';

/**
 * Thrown to end a connection before its response is complete, because a fault (simulated failure) demands it. It does
 * not report an error.
 */
export class ResponseCut extends Error {
  override readonly name = 'ResponseCut';

  constructor(readonly how: ConnectionEnding) {
    super(`A fault truncated the response (${how}).`);
  }
}

/** Limits of a stall. In a stall, a fault (simulated failure) keeps a connection open but sends no more bytes. */
export interface StallLimits {
  /** Maximum duration of the stall, in milliseconds of real time. */
  readonly idleMs: number;
  /** Ends the stall at once when aborted. */
  readonly signal: AbortSignal;
}

/**
 * Pause before a connection is reset, in milliseconds of real time, so that the client can read the data sent so far.
 * If the reset arrives first, the client loses the data or mistakes the reset for a regular end.
 */
const PAUSE_BEFORE_RESET = 50;

interface ResponseContext {
  readonly pace: Pace;
  readonly common: Readonly<Record<string, string>>;
  readonly stallLimits: StallLimits | undefined;
}

/** Ends the connection before the response or inside its header, as `reply.cut` demands. */
export async function cutResponse(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  { pace, common, stallLimits }: ResponseContext,
): Promise<void> {
  const { how, bytes, fraction } = reply.cut!;
  if (bytes === undefined && fraction === undefined) return endConnection(request, response, how, stallLimits);
  const body = bodyOf(reply, pace);
  const head = renderHead(request, response, reply.status, describeBody(reply, body, common));
  if (isStream(body)) await body[Symbol.asyncIterator]().return?.();
  const socket = await socketOf(request, response);
  socket?.write(head.subarray(0, bytes ?? Math.floor(head.length * fraction!)));
  return endConnection(request, response, how, stallLimits);
}

/**
 * Ends a connection in the way `how`, after the bytes that have already been sent. Later requests on the connection are
 * not executed and get no response.
 */
export async function endConnection(
  request: IncomingMessage,
  response: ServerResponse,
  how: ConnectionEnding,
  stallLimits?: StallLimits,
): Promise<void> {
  response.shouldKeepAlive = false;
  // Waits until the responses to earlier requests on the connection have been sent. Until then, this response has no
  // socket.
  const socket = await socketOf(request, response);
  if (socket === undefined) return;
  if (response.headersSent) response.flushHeaders();
  switch (how) {
    case 'fin':
      discardRest(request);
      lingeringClose(socket);
      return;
    case 'rst':
      await untilFlushed(socket, stallLimits);
      if (socket.bytesWritten > 0) await setTimeout(PAUSE_BEFORE_RESET);
      socket.resetAndDestroy();
      return;
    case 'stall':
      await untilStallEnds(socket, 'end', stallLimits);
      socket.destroy();
  }
}

/**
 * Resolves to the socket of the connection when all earlier responses on it have been sent. Resolves to undefined if
 * the client has disconnected.
 */
async function socketOf({ socket }: IncomingMessage, response: ServerResponse): Promise<Socket | undefined> {
  if (response.socket === null && !socket.destroyed) {
    const events = new AbortController();
    await firstOf([once(response, 'socket', events), once(socket, 'close', events)], events);
  }
  return response.socket ?? undefined;
}

/**
 * Resolves when the operating system has taken all written bytes, or when the stall must end. A reset would discard
 * bytes that are still in the process.
 */
function untilFlushed(socket: Socket, stallLimits: StallLimits | undefined): Promise<void> {
  const written = new Promise<void>((resolve) => socket.write('', () => resolve()));
  return Promise.race([written, untilStallEnds(socket, 'close', stallLimits)]);
}

/**
 * Waits for the event `event` of the socket. Also resolves when the connection ends, the signal is aborted, or the
 * maximum duration is over.
 */
async function untilStallEnds(socket: Socket, event: string, stallLimits: StallLimits | undefined): Promise<void> {
  if (socket.destroyed || stallLimits === undefined || stallLimits.signal.aborted) return setImmediate();
  const { idleMs, signal } = stallLimits;
  const events = new AbortController();
  const end = () => events.abort();
  const timer = startTimer(end, idleMs).unref();
  signal.addEventListener('abort', end);
  await firstOf([once(socket, event, events), once(socket, 'close', events)], events);
  clearTimeout(timer);
  signal.removeEventListener('abort', end);
}

/** Resolves when the first promise is settled. Then aborts `events`, which stops waiting for the others. */
async function firstOf(waiting: readonly Promise<unknown>[], events: AbortController): Promise<void> {
  await Promise.race(waiting).catch(() => {});
  events.abort();
}

/** Returns the bytes of a response header exactly as Node would write them to the connection. */
function renderHead(
  request: IncomingMessage,
  { shouldKeepAlive }: ServerResponse,
  ...head: Parameters<ServerResponse['writeHead']>
): Buffer {
  const pieces: Buffer[] = [];
  // Replaces the socket: collects the bytes that Node writes, and sends nothing.
  const recorder = new Writable({
    write: (piece, _, done) => {
      pieces.push(piece);
      done();
    },
  });
  const copy = new ServerResponse(request);
  copy.shouldKeepAlive = shouldKeepAlive;
  copy.assignSocket(recorder as unknown as Socket);
  copy.writeHead(...head);
  copy.flushHeaders();
  return Buffer.concat(pieces);
}
