import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Time between two probes, in milliseconds of real time. A probe is an informational response that tests the
 * connection. If the client has disconnected, its reset in reply to the first probe can arrive in this time.
 */
const PROBE_INTERVAL = 50;

/**
 * Returns a controller that is aborted if the client disconnects before its response is sent.
 *
 * When the client's data ends, the client has either closed the connection or only its sending side (TCP half-close).
 * In the second case it still waits for the response. To distinguish the cases, the server sends `102 Processing`
 * twice, which every HTTP/1.1 client must accept and ignore (RFC 9110, section 15.2). If the connection is closed, the
 * client's operating system replies to the first write with a reset, so the second write fails.
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
