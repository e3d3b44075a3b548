import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Pause between two probes (informational responses that test the connection), in milliseconds of real time. In this
 * time, the reset that a disconnected client sends in reply to the first probe can arrive.
 */
const PROBE_INTERVAL = 50;

/**
 * Returns a controller that is aborted if the client disconnects before its response is sent.
 *
 * The end of the client's data can mean two things: The client has closed the connection, or it sends no more data (TCP
 * half-close) and still waits for the response. To distinguish them, the server sends `102 Processing` twice, which
 * every HTTP/1.1 client must accept and ignore (RFC 9110, section 15.2). If the client has closed the connection, its
 * operating system replies to the first write with a reset, and the second write fails.
 */
export function abortOnDisconnect(request: IncomingMessage, response: ServerResponse): AbortController {
  const controller = new AbortController();
  if (response.destroyed) {
    controller.abort();
    return controller;
  }
  const { socket } = request;
  let timer: NodeJS.Timeout | undefined;
  const probe = (): void => {
    if (request.httpVersion !== '1.1' || response.headersSent) return;
    response.writeProcessing();
    timer = timer ? undefined : setTimeout(probe, PROBE_INTERVAL);
  };
  if (socket.readableEnded) probe();
  else socket.once('end', probe);
  response.once('close', () => {
    clearTimeout(timer);
    socket.off('end', probe);
    if (!response.writableFinished) controller.abort();
  });
  return controller;
}
