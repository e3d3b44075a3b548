import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
  request as sendRequest,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { MAX_HEADER_BYTES } from '../../config/limits.js';
import { endConnection } from '../../http/response-cut.js';
import type { End, Exchange } from './exchange.js';

/** Opens a connection to a deployment. Rejects with the reason if the deployment cannot be reached. */
export type Connect = (signal: AbortSignal) => Promise<Duplex>;

/** Thrown if a deployment cannot be reached, so it has received nothing of the request. */
class UnreachedError extends Error {
  override readonly name = 'UnreachedError';
}

/** Maximum size of the header of a response, in bytes. Deployments may send more than the emulator accepts. */
const MAX_RESPONSE_HEADER = 4 * MAX_HEADER_BYTES;

/**
 * Connection of one client to one deployment. A client's connection has its own connection to the deployment, so that
 * the deployment sees the same requests in the same order as without the proxy.
 */
export class Onward extends Agent {
  readonly #connect: Connect;
  readonly #end = new AbortController();

  constructor(connect: Connect) {
    super({ keepAlive: true, maxSockets: 1 });
    this.#connect = connect;
  }

  override createConnection(_options: unknown, done?: (error: Error | null, socket: Duplex) => void): undefined {
    this.#connect(this.#end.signal).then(
      (socket) => done?.(null, socket),
      (error: Error) => done?.(new UnreachedError(error.message, { cause: error }), undefined as unknown as Duplex),
    );
  }

  override destroy(): void {
    this.#end.abort(new Error('the client disconnected'));
    super.destroy();
  }
}

/**
 * Header fields that concern only one connection (RFC 9110, section 7.6.1). A proxy does not forward them, and Node sets
 * those that the other connection needs.
 */
const HOP_BY_HOP =
  /^(?:connection|keep-alive|proxy-authenticate|proxy-authorization|proxy-connection|te|trailer|upgrade)$/i;

/** Returns the header fields of a request that are sent to the deployment `host`, in the format of `rawHeaders`. */
export function onwardHeaders({ rawHeaders, method = '' }: IncomingMessage, host: string): string[] {
  const headers = withoutHopByHop(rawHeaders).flatMap(([name, value]) =>
    name.toLowerCase() === 'host' ? [] : [name, value],
  );
  const isFramed = rawHeaders.some((name, at) => at % 2 === 0 && /^(?:content-length|transfer-encoding)$/i.test(name));
  // Without a length, Node would send an empty body in chunks.
  const length = isFramed || /^(?:GET|HEAD|DELETE|OPTIONS|TRACE|CONNECT)$/.test(method) ? [] : ['Content-Length', '0'];
  return ['Host', host, ...headers, ...length];
}

function withoutHopByHop(raw: readonly string[]): [name: string, value: string][] {
  const fields = Array.from({ length: raw.length / 2 }, (_, at): [string, string] => [raw[2 * at]!, raw[2 * at + 1]!]);
  return fields.filter(([name]) => !HOP_BY_HOP.test(name));
}

/**
 * Forwards a request to the deployment and its response to the client, while both arrive. If the deployment cannot be
 * reached, the client gets a response with status 502. If the deployment ends the connection too early, the connection
 * to the client ends in the same way. Calls `onEnd` once.
 */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { exchange, agent, onEnd }: { exchange: Exchange; agent: Onward; onEnd: (outcome: End) => void },
): void {
  let failure: NodeJS.ErrnoException | undefined;
  let incoming: IncomingMessage | undefined;
  let hasEnded = false;
  const end = (outcome: End): void => {
    if (hasEnded) return;
    hasEnded = true;
    onEnd(outcome);
  };
  /** Ends the connection to the client in the way in which the deployment ended its connection. */
  const cut = (): void => {
    if (hasEnded) return;
    exchange.error = failure ? messageOf(failure) : 'the connection was closed before the response was complete';
    end('cut');
    endConnection(request, response, isReset(failure) ? 'rst' : 'fin').catch(() => response.destroy());
  };
  const outgoing: ClientRequest = sendRequest({
    agent,
    method: request.method,
    path: request.url,
    headers: exchange.requestHeaders as string[],
    maxHeaderSize: MAX_RESPONSE_HEADER,
  });
  outgoing.on('continue', () => response.writeContinue());
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    failure ??= error;
    if (incoming || hasEnded) return;
    if (!(error instanceof UnreachedError)) return cut();
    const body = `The recording proxy cannot reach ${exchange.origin}: ${error.message}.\n`;
    exchange.receiveUnreached(error.message, body);
    response.writeHead(502, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(body) });
    response.end(body);
    request.resume();
  });
  outgoing.on('response', (received) => {
    incoming = received;
    exchange.receive(received);
    response.sendDate = false;
    if (/\bclose\b/i.test(received.headers.connection ?? '')) response.shouldKeepAlive = false;
    // Node chooses the transfer encoding, because the client may use HTTP/1.0.
    const headers = withoutHopByHop(received.rawHeaders).filter(([name]) => !/^transfer-encoding$/i.test(name));
    try {
      response.writeHead(received.statusCode!, received.statusMessage, headers.flat());
    } catch (error) {
      // Node reads some responses that it cannot write, such as the status 099.
      failure = error as Error;
      cut();
      outgoing.destroy();
      return;
    }
    response.flushHeaders();
    received.pipe(response);
    received.on('error', () => {});
    received.once('close', () => {
      if (!received.complete) cut();
    });
  });
  // A deployment may respond, and stop reading, before the request is complete.
  outgoing.once('close', () => request.resume());
  response.once('close', () => {
    end(response.writableFinished ? 'complete' : 'gone');
    if (!response.writableFinished) outgoing.destroy();
  });
  request.on('error', () => {});
  request.pipe(outgoing);
}

/** Returns true if the deployment reset the connection. If it only closed the connection, Node reports `socket hang up`. */
function isReset(error: NodeJS.ErrnoException | undefined): boolean {
  return error?.code === 'ECONNRESET' && error.syscall !== undefined;
}

/** Returns the message of an error, with its code in front if the message does not contain it. */
function messageOf({ code, message, syscall }: NodeJS.ErrnoException): string {
  return code === undefined || syscall === undefined || message.includes(code) ? message : `${code}: ${message}`;
}
