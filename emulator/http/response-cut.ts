import { once } from 'node:events';
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { setTimeout as startTimer } from 'node:timers';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { dropRest, lingeringClose } from './lingering-close.js';
import { bodyOf, type ConnectionEnding, describeBody, isStream, type Pace, type Reply } from './reply.js';

/** Thrown where a request, or the stream of an answer, is cut on purpose: nothing failed. */
export class ResponseCut extends Error {
  override readonly name = 'AnswerCut';

  constructor(readonly how: ConnectionEnding) {
    super(`The answer was asked to end here (${how}).`);
  }
}

/** How long a connection that is kept without a word stays, unless its client goes. */
export interface Patience {
  /** Milliseconds of real time. */
  readonly idleMs: number;
  /** Aborted when it has to end at once. */
  readonly signal: AbortSignal;
}

/** Milliseconds (real time) for the client to take what was sent: a reset that overtakes it hides it, or looks like an end. */
const PAUSE_BEFORE_RESET = 50;

interface Described {
  readonly pace: Pace;
  readonly common: Readonly<Record<string, string>>;
  readonly patience: Patience | undefined;
}

/** Ends the connection in place of an answer, or within its head. */
export async function cutResponse(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  { pace, common, patience }: Described,
): Promise<void> {
  const { how, bytes, fraction } = reply.cut!;
  if (bytes === undefined && fraction === undefined) return endConnection(request, response, how, patience);
  const body = bodyOf(reply, pace);
  const head = renderHead(request, response, reply.status, describeBody(reply, body, common));
  if (isStream(body)) await body[Symbol.asyncIterator]().return?.();
  const socket = await socketOf(request, response);
  socket?.write(head.subarray(0, bytes ?? Math.floor(head.length * fraction!)));
  return endConnection(request, response, how, patience);
}

/**
 * Ends a connection after what was sent on it so far. Behind it, nothing that arrives on the connection is carried out,
 * and no answer is sent.
 */
export async function endConnection(
  request: IncomingMessage,
  response: ServerResponse,
  how: ConnectionEnding,
  patience?: Patience,
): Promise<void> {
  response.shouldKeepAlive = false;
  // Answers to requests before this one leave whole.
  const socket = await socketOf(request, response);
  if (socket === undefined) return;
  if (response.headersSent) response.flushHeaders();
  switch (how) {
    case 'fin':
      dropRest(request);
      lingeringClose(socket);
      return;
    case 'rst':
      await sent(socket, patience);
      if (socket.bytesWritten > 0) await setTimeout(PAUSE_BEFORE_RESET);
      socket.resetAndDestroy();
      return;
    case 'stall':
      await untilGivenUp(socket, 'end', patience);
      socket.destroy();
  }
}

/** The connection, once it is this answer's turn; undefined when it has gone. */
async function socketOf({ socket }: IncomingMessage, response: ServerResponse): Promise<Socket | undefined> {
  if (response.socket === null && !socket.destroyed) {
    const events = new AbortController();
    await firstOf([once(response, 'socket', events), once(socket, 'close', events)], events);
  }
  return response.socket ?? undefined;
}

/** Resolves when the system has taken what was written: a reset loses the rest. Or as `untilGivenUp`. */
function sent(socket: Socket, patience: Patience | undefined): Promise<void> {
  const written = new Promise<void>((resolve) => socket.write('', () => resolve()));
  return Promise.race([written, untilGivenUp(socket, 'close', patience)]);
}

/** Resolves at the event, when the connection is closed, when the client is told to end, or after the longest pause. */
async function untilGivenUp(socket: Socket, event: string, patience: Patience | undefined): Promise<void> {
  if (socket.destroyed || patience === undefined || patience.signal.aborted) return setImmediate();
  const { idleMs, signal } = patience;
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

/** The bytes of a head, as Node writes it to the answer's own connection. */
function renderHead(
  request: IncomingMessage,
  { shouldKeepAlive }: ServerResponse,
  ...head: Parameters<ServerResponse['writeHead']>
): Buffer {
  const pieces: Buffer[] = [];
  // Stands in for a connection, and notes what is written to it.
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
