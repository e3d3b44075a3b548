import type { ActionKind } from '../faults/actions.js';
import type { Action, CutPoint, Ending } from '../faults/fault.js';
import type { ChosenAction } from '../faults/request-faults.js';
import type { Position } from '../faults/stage.js';
import { AnswerCut, type Patience } from '../http/answer-cut.js';
import { breakBytes, breakReply } from '../http/broken-answer.js';
import type { CutPlace } from '../http/broken-bytes.js';
import { genericCodeOf, problem } from '../http/problem.js';
import type { ConnectionEnding, Reply } from '../http/reply.js';
import type { GitFaults, GitStage } from '../smart-http/git-faults.js';
import type { RequestContext } from './request-context.js';
import type { WireBreakage } from './wire-breakage.js';

type Of<Member extends string> = Extract<Action, { readonly [name in Member]: unknown }>;

/** Does, or notes, what ends or breaks the connection. Throws what ends the request there. */
export function breakWire(context: RequestContext, position: Position | undefined, id: string, action: Action): void {
  if ('cut' in action) cutAt(context, position, action.cut);
  else if ('throttle' in action) {
    wireOf(context)[position === 'body' ? 'bodyRate' : 'rate'] = action.throttle.bps;
  } else if ('corrupt' in action) wireOf(context).flip = { offset: action.corrupt.flip };
  else if ('lostResponse' in action) loseAnswer(id, action.lostResponse);
}

function cutAt(context: RequestContext, position: Position | undefined, { at, how = 'fin' }: Of<'cut'>['cut']): void {
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

function loseAnswer(id: string, how: Of<'lostResponse'>['lostResponse']): never {
  if (typeof how === 'string') throw new AnswerCut(how);
  const { status } = how;
  throw problem(genericCodeOf(status), `The answer was lost: the fault ${id} was asked for.`, { status });
}

function wireOf(context: RequestContext): WireBreakage {
  context.wire ??= {};
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
export function breakBody(context: RequestContext, chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
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

/** Actions that delay or replace the response to a Git request. */
const BEFORE_ANSWER: readonly ActionKind[] = ['latency', 'hold', 'error', 'unknownCode', 'raw'];

/** The faults of one request, as far as the Git services carry them out. */
export class ContextGitFaults implements GitFaults {
  constructor(
    private readonly context: RequestContext,
    private readonly carryOut: (context: RequestContext, chosen: readonly ChosenAction[]) => Promise<void>,
  ) {}

  learn(facts: Parameters<GitFaults['learn']>[0]): void {
    this.context.faults.learn(facts);
  }

  take(stage: GitStage): readonly ChosenAction[] {
    return this.context.faults.take(stage);
  }

  wait(chosen: readonly ChosenAction[]): Promise<void> {
    return this.carryOut(
      this.context,
      chosen.filter(({ action }) => BEFORE_ANSWER.some((kind) => kind in action)),
    );
  }
}
