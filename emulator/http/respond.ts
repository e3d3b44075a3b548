import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context } from 'koa';
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

/**
 * Writes a reply. Koa writes values: it knows about lengths and HEAD. Streams are piped here, so that one
 * that fails half-way cuts the connection instead of leaving the client to wait.
 */
export async function writeReply(ctx: Context, reply: Reply): Promise<void> {
  const { res } = ctx;
  drainUnread(ctx);
  ctx.status = reply.status;
  if (reply.json !== undefined) ctx.body = Buffer.from(JSON.stringify(reply.json));
  else if (reply.bytes !== undefined) ctx.body = asBuffer(reply.bytes);
  else if (reply.stream === undefined) ctx.body = null;
  ctx.status = reply.status;
  if (reply.json !== undefined) ctx.set('content-type', 'application/json');
  for (const name in reply.headers) ctx.set(name, reply.headers[name]!);
  if (reply.stream === undefined) return;
  ctx.respond = false;
  res.statusCode = reply.status;
  if (ctx.method === 'HEAD') {
    res.end();
    return;
  }
  // A client that goes away, and a stream that fails, end here: the status line has left already.
  await pipeline(Readable.from(reply.stream, { objectMode: false }), res).catch(() => res.destroy());
}

function asBuffer(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** Milliseconds (real time) that a client gets to finish sending a body nobody reads any more. */
const DRAIN = 10_000;

/**
 * A request refused before its body was read is still being sent. Closing at once would reset the
 * connection and lose the answer, so Node discards the rest, for a bounded time.
 */
function drainUnread({ req, res }: Context): void {
  if (req.complete) return;
  res.once('finish', () => {
    if (req.complete || req.destroyed) return;
    const timer = setTimeout(() => req.destroy(), DRAIN);
    timer.unref();
    req.once('close', () => clearTimeout(timer));
  });
}
