import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { lingeringClose } from '../http/lingering-close.js';
import { type Problem, type ProblemCode, problem } from '../http/problem.js';
import { renderProblem } from '../http/respond.js';
import { recordRequest } from '../pipeline/record-request.js';
import type { World } from '../world/world.js';

const DISCONNECTED = 'The client disconnected before the request body was complete.';

const UNREADABLE = ['bad_request', 'The request is not valid HTTP.'] as const;

/** Problems by the error code of Node's HTTP parser. For all other codes, `UNREADABLE`. */
const PARSER_PROBLEMS: Readonly<Record<string, readonly [code: ProblemCode, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [
    'request_header_fields_too_large',
    'The request target and the headers together are larger than 16 KiB.',
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [
    'payload_too_large',
    'The chunk extensions of the request body are too large; send none.',
  ],
  HPE_INVALID_TRANSFER_ENCODING: [
    'bad_request',
    'Transfer-Encoding is invalid; its last coding, and no other, must be chunked.',
  ],
  HPE_INVALID_CONTENT_LENGTH: ['bad_request', 'Content-Length is invalid; it must be a decimal number.'],
  HPE_UNEXPECTED_CONTENT_LENGTH: [
    'bad_request',
    'Content-Length is allowed only once, and not together with Transfer-Encoding.',
  ],
  HPE_INVALID_CHUNK_SIZE: ['bad_request', 'The size of a chunk is invalid; it must be a hexadecimal number.'],
  HPE_INVALID_HEADER_TOKEN: ['bad_request', 'A header is malformed; it must be a name, a colon and a value.'],
  HPE_INVALID_METHOD: ['bad_request', 'The method in the request line is unknown.'],
  HPE_INVALID_VERSION: ['bad_request', 'The HTTP version is not supported; use HTTP/1.1 or HTTP/1.0.'],
  HPE_PAUSED_H2_UPGRADE: ['bad_request', 'The HTTP version is not supported; use HTTP/1.1 or HTTP/1.0.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request header did not arrive in time (--headers-timeout).'],
};

/**
 * Handles bytes that Node's parser refused. `latest` is the response to the last request on the connection; undefined
 * if there was none. If the bytes belong to the body of that request, makes the reader of the body throw. Otherwise
 * they follow the request, and get a response after the earlier response has been sent. Nothing on the connection is
 * read afterwards.
 */
export function refuseUnreadable(
  error: NodeJS.ErrnoException,
  socket: Socket,
  latest: ServerResponse | undefined,
  world: World,
): void {
  if (error.code === 'ECONNRESET' || error.code === 'EPIPE' || socket.destroyed) {
    socket.destroy();
    return;
  }
  const [code, detail] = PARSER_PROBLEMS[error.code ?? ''] ?? UNREADABLE;
  if (latest?.req.complete === false) {
    const isCut = error.code === 'HPE_INVALID_EOF_STATE';
    failBody(latest, isCut ? problem('request_canceled', DISCONNECTED) : problem(code, detail), socket);
    return;
  }
  const respond = () => respondUnreadable(problem(code, detail), socket, world);
  if (!latest) respond();
  // RFC 9112, section 9.6: bytes that follow the last request of a connection are ignored.
  else if (latest.shouldKeepAlive) {
    if (latest.writableFinished) respond();
    else latest.once('finish', respond);
  }
}

/**
 * Makes the reader of the request's body throw `refusal`, now or when it begins to read. A response that has been sent
 * already stays as it is.
 */
function failBody(latest: ServerResponse, refusal: Problem, socket: Socket): void {
  const request: IncomingMessage = latest.req;
  latest.shouldKeepAlive = false;
  if (latest.writableFinished) lingeringClose(socket);
  else latest.once('finish', () => lingeringClose(socket));
  if (request.destroyed) return;
  request.on('error', () => undefined);
  // End only the body, because the response still needs the connection.
  request._destroy = (error, done) => done(error);
  request.destroy(refusal);
}

/**
 * Writes a response for which Node has no request, and records it in the journal and the log like any other response.
 */
function respondUnreadable(refusal: Problem, socket: Socket, world: World): void {
  // The parser refuses every further piece as well, but one response is enough.
  if (!socket.writable) return;
  world.state.clock.tick();
  const id = world.nextRequestId();
  const now = world.state.clock.now();
  const { variants, config } = world;
  const { forgePrefix } = config;
  const { status, headers, json } = renderProblem(refusal, { dialect: 'problem', path: '/', variants, forgePrefix });
  const origin = 'real';
  const why = [refusal.detail];
  const stopped = 'message';
  const record = recordRequest(world, { id, time: now, status, code: refusal.code, origin, faults: [], why, stopped });
  const body = JSON.stringify(json);
  const fields = {
    ...headers,
    'content-length': Buffer.byteLength(body),
    'x-request-id': id,
    date: new Date(now).toUTCString(),
    connection: 'close',
  };
  record.responseHeaders = fields;
  record.answer = body;
  world.state.journal.end(record, 'complete');
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  socket.write(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  lingeringClose(socket);
}
