import { once } from 'node:events';
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { setTimeout as startTimer } from 'node:timers';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { discardRest, lingeringClose } from './lingering-close.js';
import { bodyOf, type ConnectionEnding, describeBody, isStream, type Pace, type Reply } from './reply.js';

/** Thrown to cut a request, or the stream of a response, as a fault demands. It does not mean that something failed. */
export class ResponseCut extends Error {
  override readonly name = 'ResponseCut';

  constructor(readonly how: ConnectionEnding) {
    super(`A fault truncated the response (${how}).`);
  }
}

/** Limits on the time for which a stalled connection stays open while its client waits. */
export interface StallLimits {
  /** Maximum time in milliseconds of real time. */
  readonly idleMs: number;
  /** Aborted to end the stall at once. */
  readonly signal: AbortSignal;
}

/**
 * Milliseconds (real time) that the client must read what was sent. A reset that overtakes the data hides it, or
 * looks like a regular end.
 */
const PAUSE_BEFORE_RESET = 50;

interface ResponseContext {
  readonly pace: Pace;
  readonly common: Readonly<Record<string, string>>;
  readonly stallLimits: StallLimits | undefined;
}

/** Ends the connection in place of a response, or inside the response header. */
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
 * Ends a connection after the bytes that have been sent. Later requests on the connection are not executed and get no
 * response.
 */
export async function endConnection(
  request: IncomingMessage,
  response: ServerResponse,
  how: ConnectionEnding,
  stallLimits?: StallLimits,
): Promise<void> {
  response.shouldKeepAlive = false;
  // Wait until the responses to earlier requests on the connection have been sent.
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

/** Resolves to the connection when earlier responses on it have been sent; undefined if the client has disconnected. */
async function socketOf({ socket }: IncomingMessage, response: ServerResponse): Promise<Socket | undefined> {
  if (response.socket === null && !socket.destroyed) {
    const events = new AbortController();
    await firstOf([once(response, 'socket', events), once(socket, 'close', events)], events);
  }
  return response.socket ?? undefined;
}

/**
 * Resolves when the system has taken all written bytes, because a reset discards the rest, or when `untilStallEnds`
 * resolves.
 */
function untilFlushed(socket: Socket, stallLimits: StallLimits | undefined): Promise<void> {
  const written = new Promise<void>((resolve) => socket.write('', () => resolve()));
  return Promise.race([written, untilStallEnds(socket, 'close', stallLimits)]);
}

/** Resolves at the event, when the connection closes, when the signal is aborted, or after the maximum time. */
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

/** Resolves at the first of the events, or when waiting for them is aborted. */
async function firstOf(waiting: readonly Promise<unknown>[], events: AbortController): Promise<void> {
  await Promise.race(waiting).catch(() => {});
  events.abort();
}

/** Returns the bytes of a response header as Node writes them to the response's own connection. */
function renderHead(
  request: IncomingMessage,
  { shouldKeepAlive }: ServerResponse,
  ...head: Parameters<ServerResponse['writeHead']>
): Buffer {
  const pieces: Buffer[] = [];
  // Takes the place of the socket, and records what is written.
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
