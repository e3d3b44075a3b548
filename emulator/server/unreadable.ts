import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { lingeringClose } from '../http/lingering-close.js';
import { type Problem, type ProblemCode, problem } from '../http/problem.js';
import { renderProblem } from '../http/respond.js';
import { recordRequest } from '../pipeline/record-request.js';
import type { World } from '../world/world.js';

const DISCONNECTED = 'The client disconnected before the request body was complete.';

const UNREADABLE = ['bad_request', 'The request is not valid HTTP/1.1, so it was not read any further.'] as const;

/**
 * Code and message of an error response, by the error code of Node's HTTP parser. Other parser errors get `UNREADABLE`.
 */
const PARSER_PROBLEMS: Readonly<Record<string, readonly [code: ProblemCode, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [
    'request_header_fields_too_large',
    'The request line and the headers together are larger than 16 KiB, the maximum.',
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [
    'payload_too_large',
    'The chunk extensions of the request body are too large. Send chunks without extensions.',
  ],
  HPE_INVALID_TRANSFER_ENCODING: [
    'bad_request',
    'Transfer-Encoding is invalid; its last coding, and no other, must be chunked.',
  ],
  HPE_INVALID_CONTENT_LENGTH: ['bad_request', 'Content-Length is invalid. It must be a decimal number.'],
  HPE_UNEXPECTED_CONTENT_LENGTH: [
    'bad_request',
    'Content-Length is allowed only once, and not together with Transfer-Encoding.',
  ],
  HPE_INVALID_CHUNK_SIZE: ['bad_request', 'The size of a chunk is invalid. It must be a hexadecimal number.'],
  HPE_INVALID_HEADER_TOKEN: ['bad_request', 'A header is malformed. It must be a name, a colon and a value.'],
  HPE_INVALID_METHOD: ['bad_request', 'The method in the request line is unknown.'],
  HPE_INVALID_VERSION: ['bad_request', 'The HTTP version is not supported. Use HTTP/1.1 or HTTP/1.0.'],
  HPE_PAUSED_H2_UPGRADE: ['bad_request', 'The HTTP version is not supported. Use HTTP/1.1 or HTTP/1.0.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request header did not arrive in time (--headers-timeout).'],
};

/**
 * Handles bytes from a client that Node's HTTP parser refused. `latest` is the response to the last request on the
 * connection; undefined if there was no request. If the bytes belong to the body of that request, the reader of the
 * body gets an error. Otherwise an error response is sent after the response `latest`. Nothing more is read from the
 * connection.
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
  // If the latest response closes the connection, later bytes are ignored (RFC 9112, section 9.6).
  else if (latest.shouldKeepAlive) {
    if (latest.writableFinished) respond();
    else latest.once('finish', respond);
  }
}

/**
 * Makes the reader of a request body throw `refusal`, now or when it begins to read. A response that was already sent
 * does not change.
 */
function failBody(latest: ServerResponse, refusal: Problem, socket: Socket): void {
  const request: IncomingMessage = latest.req;
  latest.shouldKeepAlive = false;
  if (latest.writableFinished) lingeringClose(socket);
  else latest.once('finish', () => lingeringClose(socket));
  if (request.destroyed) return;
  request.on('error', () => undefined);
  // This method is replaced so that only the body is destroyed. The connection must stay open to send the response.
  request._destroy = (error, done) => done(error);
  request.destroy(refusal);
}

/**
 * Writes an error response for bytes that Node could not parse as a request. The response is recorded in the journal
 * (list of all requests, for tests) and the log, like any other.
 */
function respondUnreadable(refusal: Problem, socket: Socket, world: World): void {
  // A closed sending side means that a response was already sent. The parser refuses every further piece of data, but
  // one response is enough.
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
  record.response = body;
  world.state.journal.end(record, 'complete');
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  socket.write(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  lingeringClose(socket);
}
