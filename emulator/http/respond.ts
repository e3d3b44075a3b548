import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Variants } from '../variants.js';
import type { Problem } from './problem.js';
import { bytes, json, type Reply } from './reply.js';
import type { Dialect } from './route.js';

/** Codes that come from the gateway: they stay problem details where the handler speaks another dialect. */
const GATEWAY = new Set([
  'unauthorized',
  'forbidden',
  'authentication_unavailable',
  'insufficient_scope',
  'repo_claim_missing',
  'rate_limited',
  'route_not_found',
]);

export interface RenderContext {
  readonly dialect: Dialect;
  /** The request path: what `instance` shows. */
  readonly path: string;
  readonly variants: Variants;
}

/** The one place where an error becomes an answer, in the dialect of its operation. */
export function renderProblem(error: Problem, context: RenderContext): Reply {
  const { code, detail, status, title } = error;
  const headers = error.options.headers ?? {};
  switch (dialectOf(error, context)) {
    case 'error':
      return json(status, { error: detail }, headers);
    case 'git':
      return bytes(status, Buffer.from(`${detail}\n`), { 'content-type': 'text/plain; charset=utf-8', ...headers });
    case 'result':
      return json(status, error.options.result, headers);
    default: {
      const type = context.variants.problemMediaType === 'profile' ? '; profile="application/json"' : '';
      return json(
        status,
        {
          type: 'about:blank',
          title,
          status,
          detail,
          error: detail,
          instance: context.path,
          code,
          ...error.options.result,
          ...error.options.extra,
        },
        { ...headers, 'content-type': `application/problem+json${type}` },
      );
    }
  }
}

function dialectOf(error: Problem, context: RenderContext): Dialect {
  const { dialect, variants } = context;
  if (dialect === 'error') {
    // Throttling happens before routing; the tree limit's 429 is the operation's own and has no rate headers.
    if (error.code === 'rate_limited' && error.options.headers?.['retry-after'] !== undefined) return 'problem';
    return variants.fileMetadataErrors === 'problem' ? 'problem' : 'error';
  }
  if (dialect === 'git') return 'git';
  if (error.options.result === undefined || GATEWAY.has(error.code)) return 'problem';
  if (variants.writeFailureBody === 'problem') return 'problem';
  return dialect === 'result' || variants.writeFailureBody === 'all' ? 'result' : 'problem';
}

/** Writes a reply. A stream that fails half-way cuts the connection instead of leaving the client to wait. */
export async function writeReply(request: IncomingMessage, response: ServerResponse, reply: Reply): Promise<void> {
  drainUnread(request, response);
  const { status, headers, stream } = reply;
  if (stream === undefined) {
    const body = reply.json === undefined ? reply.bytes : JSON.stringify(reply.json);
    response.writeHead(status, describeBody(reply, body));
    // A string leaves together with the head, in one piece. HEAD, 204 and 304 have no body; Node knows that.
    response.end(body);
    return;
  }
  response.writeHead(status, headers as OutgoingHttpHeaders);
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  try {
    for await (const piece of stream) {
      if (!response.write(piece)) await untilDrained(response);
      if (response.destroyed) return;
    }
    response.end();
  } catch {
    // The status line has left already; the client learns of it by a body that breaks off.
    response.destroy();
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

/** The headers of a reply whose body is at hand. */
function describeBody({ status, headers, json }: Reply, body: Uint8Array | string | undefined): OutgoingHttpHeaders {
  if (status === 204 || status === 304) return { ...headers };
  if (body === undefined) return { ...headers, 'content-length': 0 };
  const type = json === undefined ? 'application/octet-stream' : 'application/json';
  return { 'content-type': type, 'content-length': Buffer.byteLength(body), ...headers };
}

/** Milliseconds (real time) that a client gets to finish sending a body nobody reads any more. */
const DRAIN = 10_000;

/**
 * A request refused before its body was read is still being sent. Closing at once would reset the
 * connection and lose the answer, so the rest is discarded, for a bounded time. Node does so by itself only
 * for a body nobody began to read; left alone, one that was given up half-way blocks its connection.
 */
function drainUnread(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return;
  response.once('finish', () => {
    if (request.complete || request.destroyed) return;
    // A reader that stopped half-way without saying so would keep the stream from flowing. That it is gone
    // stops the flow once more, a tick later; only after that does anything start it for good.
    request.removeAllListeners('readable');
    setImmediate(() => request.resume());
    // What has arrived completely holds up nobody: its connection may long be serving other requests.
    const timer = setTimeout(() => request.complete || request.destroy(), DRAIN);
    timer.unref();
    request.once('close', () => clearTimeout(timer));
  });
}
