import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { setTimeout as startTimer } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { dropRest, lingeringClose } from './lingering-close.js';
import { bodyOf, type ConnectionEnding, describeBody, isStream, type Pace, type Reply } from './reply.js';

/** Thrown where a request, or the stream of an answer, is cut on purpose: nothing failed. */
export class AnswerCut extends Error {
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
export async function cutAnswer(
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
      await stall(socket, patience);
      socket.destroy();
  }
}

/** The connection, once it is this answer's turn; undefined when it has gone. */
function socketOf({ socket }: IncomingMessage, response: ServerResponse): Promise<Socket | undefined> {
  if (response.socket !== null) return Promise.resolve(response.socket);
  if (socket.destroyed) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const done = () => {
      response.off('socket', done);
      socket.off('close', done);
      resolve(response.socket ?? undefined);
    };
    response.once('socket', done);
    socket.once('close', done);
  });
}

/** Resolves when the system has taken what was written: a reset loses the rest. */
function sent(socket: Socket, patience: Patience | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      stop();
      resolve();
    };
    const stop = watch(socket, patience, end);
    socket.write('', end);
  });
}

/** Resolves when the client has gone or closed its half, when it is told to end, or after the longest pause. */
function stall(socket: Socket, patience: Patience | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      stop();
      socket.off('end', end);
      resolve();
    };
    const stop = watch(socket, patience, end);
    socket.once('end', end);
  });
}

/** Calls `end` once the connection is closed or patience is over; returns what stops that. */
function watch(socket: Socket, patience: Patience | undefined, end: () => void): () => void {
  if (socket.destroyed || patience === undefined || patience.signal.aborted) {
    setImmediate(end);
    return () => {};
  }
  const { idleMs, signal } = patience;
  const timer = startTimer(end, idleMs).unref();
  socket.once('close', end);
  signal.addEventListener('abort', end);
  return () => {
    clearTimeout(timer);
    socket.off('close', end);
    signal.removeEventListener('abort', end);
  };
}

/** The bytes of a head, as Node writes it to the answer's own connection. */
function renderHead(
  request: IncomingMessage,
  { shouldKeepAlive }: ServerResponse,
  ...head: Parameters<ServerResponse['writeHead']>
): Buffer {
  const pieces: Buffer[] = [];
  const copy = new ServerResponse(request);
  copy.shouldKeepAlive = shouldKeepAlive;
  copy.assignSocket(new Recorder(pieces) as unknown as Socket);
  copy.writeHead(...head);
  copy.flushHeaders();
  return Buffer.concat(pieces);
}

/** Stands in for a connection, and notes what is written to it. */
class Recorder extends Writable {
  constructor(private readonly pieces: Buffer[]) {
    super();
  }

  override _write(piece: Buffer, _: BufferEncoding, done: () => void): void {
    this.pieces.push(piece);
    done();
  }
}
