import type { IncomingMessage, ServerResponse } from 'node:http';
import { AnswerCut, cutAnswer, endConnection, type Patience } from './answer-cut.js';
import { discardUnread } from './lingering-close.js';
import type { Reply } from './reply.js';
import { type BodyStream, bodyOf, describeBody, isStream, type Pace } from './reply-body.js';
import type { WriteCoalescing } from './write-coalescing.js';

/**
 * Writes a reply. A stream that fails half-way cuts the connection instead of leaving the client to wait, and its
 * error is thrown; that the client has gone is none.
 */
export function writeReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  writes: WriteCoalescing,
  pace: Pace,
  /** What every answer has beside the headers of the reply. */
  common: Readonly<Record<string, string>> = {},
  /** How long an answer that was asked to stall does. */
  patience?: Patience,
): Promise<void> | undefined {
  if (reply.cut !== undefined) return cutAnswer(request, response, reply, { pace, common, patience });
  discardUnread(request, response, reply.status);
  const body = bodyOf(reply, pace);
  if (isStream(body)) return writeStream(request, response, { reply, body, common, patience });
  response.writeHead(reply.status, describeBody(reply, body, common));
  // A string leaves together with the head, in one piece. HEAD, 204 and 304 have no body; Node knows that.
  writes.end(response, body);
  return undefined;
}

interface StreamedReply {
  readonly reply: Reply;
  readonly body: BodyStream;
  readonly common: Readonly<Record<string, string>>;
  readonly patience: Patience | undefined;
}

async function writeStream(
  request: IncomingMessage,
  response: ServerResponse,
  { reply, body, common, patience }: StreamedReply,
): Promise<void> {
  response.writeHead(reply.status, describeBody(reply, body, common));
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  try {
    for await (const piece of body) {
      if (!response.write(piece)) await untilDrained(response);
      if (response.destroyed) return;
    }
    response.end();
  } catch (error) {
    if (response.destroyed) return;
    if (error instanceof AnswerCut) return endConnection(request, response, error.how, patience);
    // The status line has left already; the client learns of it by a body that breaks off.
    response.destroy();
    throw error;
  }
}

/** Resolves when the client has taken what was written, or has gone. */
function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
    if (response.destroyed) done();
  });
}
