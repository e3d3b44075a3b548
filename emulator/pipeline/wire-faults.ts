import type { Cut, CutPoint, Ending } from '../faults/kinds/cut.js';
import type { KindName, KindValues } from '../faults/kinds/index.js';
import type { Lost } from '../faults/kinds/lost.js';
import type { Position } from '../faults/stage.js';
import { AnswerCut, type Patience } from '../http/answer-cut.js';
import { breakBytes, breakReply } from '../http/broken-answer.js';
import type { CutPlace } from '../http/broken-bytes.js';
import { genericCodeOf, problem } from '../http/problem.js';
import type { ConnectionEnding, Reply } from '../http/reply.js';
import type { RequestContext } from './request-context.js';
import type { WireBreakage } from './wire-breakage.js';

/** A fault that a request has met, and where. */
export interface Met {
  readonly context: RequestContext;
  /** Id of the fault. */
  readonly id: string;
  /** Undefined at a stage of Git. */
  readonly position: Position | undefined;
}

/** Carries out the kinds of faults; throws what ends the request. */
export type CarryOut = {
  readonly [Name in KindName]?: (value: KindValues[Name], met: Met) => void | Promise<void>;
};

/** How each kind ends or breaks the connection of a request. */
export const ON_WIRE: CarryOut = {
  cut: (cut, { context, position }) => cutAt(context, position, cut),
  throttle: ({ bps }, { context, position }) => {
    wireOf(context)[position === 'body' ? 'bodyRate' : 'rate'] = bps;
  },
  corrupt: ({ flip }, { context }) => {
    wireOf(context).flip = { offset: flip };
  },
  lost: (how, { id }) => loseAnswer(id, how),
};

function cutAt(context: RequestContext, position: Position | undefined, { at, how = 'fin' }: Cut): void {
  switch (position) {
    case 'body':
      wireOf(context).bodyCut = { at, how };
      return;
    case 'response.body':
      wireOf(context).cut = { at: placeOf(at), how };
      return;
    case 'response.head':
      context.reply = {
        ...context.reply,
        cut: { how: connectionEnding(how), bytes: at?.bytes, fraction: at?.fraction },
      };
      return;
    default:
      throw new AnswerCut(connectionEnding(how));
  }
}

/** Where there is no payload that could be short, valid HTTP is no answer at all. */
function connectionEnding(how: Ending): ConnectionEnding {
  return how === 'end' ? 'fin' : how;
}

function placeOf(at: CutPoint | undefined): CutPlace {
  return at?.bytes === undefined ? { fraction: at?.fraction ?? 0.5 } : { bytes: at.bytes };
}

function loseAnswer(id: string, how: Lost): never {
  if (typeof how === 'string') throw new AnswerCut(how);
  const { status } = how;
  throw problem(genericCodeOf(status), `The answer was lost: the fault ${id} was asked for.`, { status });
}

function wireOf(context: RequestContext): WireBreakage {
  context.wire ??= { breakBody: (chunks) => breakBody(context, chunks) };
  return context.wire;
}

/** The reply to a request that was cut: nothing of it is sent. A journal shows the status that would have been. */
export function cutReply({ reply }: { readonly reply: Reply | undefined }, { how }: AnswerCut): Reply {
  return { status: reply?.status ?? 0, cut: { how } };
}

/** The answer as it leaves. */
export function breakAnswer({ reply, request, wire, world }: RequestContext): Reply {
  if (wire === undefined || reply.cut !== undefined) return reply;
  const { cut, flip, rate } = wire;
  if (cut === undefined && flip === undefined && rate === undefined) return reply;
  return breakReply(reply, { cut, flip, bytesPerSecond: rate }, request.method, world.engine.schedule);
}

/** How long an answer stalls that was asked to. */
export function patienceOf({ world }: RequestContext): Patience {
  return { idleMs: world.limits.idleTimeout, signal: world.background.stalls };
}

/** The body of the request as it is read. */
function breakBody(context: RequestContext, chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const { wire } = context;
  return wire?.bodyCut === undefined && wire?.bodyRate === undefined ? chunks : brokenChunks(context, wire, chunks);
}

async function* brokenChunks(
  context: RequestContext,
  { bodyCut, bodyRate }: WireBreakage,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const length = Number(context.request.headers['content-length'] ?? 0);
  const at = bodyCut && placeWhileReading(bodyCut.at, length);
  const bytes = breakBytes(chunks, { cut: at && { at, how: 'fin' }, bytesPerSecond: bodyRate });
  for await (const piece of bytes) yield Buffer.from(piece.buffer, piece.byteOffset, piece.length);
  if (bodyCut === undefined) return;
  const error = new AnswerCut(connectionEnding(bodyCut.how));
  context.thrown = { error, at: 'faults.body' };
  throw error;
}

/** How long the whole is has to be known before it was read; of what is sent in chunks, one byte is read. */
function placeWhileReading(at: CutPoint | undefined, length: number): CutPlace {
  if (at?.bytes !== undefined) return { bytes: at.bytes };
  return { bytes: Math.max(1, Math.floor(length * (at?.fraction ?? 0.5))) };
}
