import type { IncomingMessage, ServerResponse } from 'node:http';

/** Milliseconds (real time) between two questions: the first one's refusal has to arrive. */
const PAUSE = 50;

/**
 * A controller that aborts when the client has gone before its answer was sent.
 *
 * A client that closes its connection looks like one that has only said that it sends no more (TCP, half-close)
 * and still waits. So it is asked, by `102 Processing`, which every HTTP/1.1 client has to accept and pass over
 * (RFC 9110, 15.2): where the client has gone the first is refused by the system, and writing the second one fails.
 */
export function abortOnDisconnect(request: IncomingMessage, response: ServerResponse): AbortController {
  const controller = new AbortController();
  if (response.destroyed) {
    controller.abort();
    return controller;
  }
  const { socket } = request;
  let timer: NodeJS.Timeout | undefined;
  const ask = (): void => {
    if (request.httpVersion !== '1.1' || response.headersSent) return;
    response.writeProcessing();
    timer = timer ? undefined : setTimeout(ask, PAUSE);
  };
  if (socket.readableEnded) ask();
  else socket.once('end', ask);
  response.once('close', () => {
    clearTimeout(timer);
    socket.off('end', ask);
    if (!response.writableFinished) controller.abort();
  });
  return controller;
}
