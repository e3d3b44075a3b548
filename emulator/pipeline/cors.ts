import cors from '@koa/cors';
import type { Middleware } from 'koa';
import { concernsAdmin } from './target.js';

/**
 * Response headers that web pages may read in addition to those that the Fetch standard always allows ("CORS-safelisted
 * response-header name").
 */
const EXPOSED = [
  'Accept-Ranges',
  'Allow',
  'Content-Disposition',
  'Content-Range',
  'Date',
  'ETag',
  'LFS-Authenticate',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Blob-Sha',
  'X-Cache',
  'X-Emulator-Fault-Fired',
  'X-Emulator-Fault-Ignored',
  'X-Last-Commit-Sha',
  'X-Request-Id',
];

/** Seconds for which browsers may cache the response to a preflight. Short, so that other start options soon apply. */
const MAX_AGE = 60;

/**
 * Returns the middleware that lets web pages of the given origins use the service (CORS, Fetch standard, section 3.3).
 * It answers preflights, and adds headers to all other responses. A preflight is neither counted as a request nor
 * recorded, because browsers cache its response, so the number of preflights varies.
 *
 * Requests of other origins, and requests to the admin API, pass unchanged. Credentials (cookies and client
 * certificates) are allowed only if the origins are listed, not for `*`. The header `Authorization` is always allowed.
 */
export function allowOrigins<State>(origins: readonly string[]): Middleware<State> {
  const isAny = origins.includes('*');
  const originOf = (sent: string): string => (isAny ? '*' : origins.includes(sent) ? sent : '');
  const addHeaders: Middleware = cors({
    origin: (ctx) => (ctx.get('origin') === '' ? '' : originOf(ctx.get('origin'))),
    credentials: !isAny,
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposeHeaders: EXPOSED,
    maxAge: MAX_AGE,
  });
  return async (ctx, next) => {
    if (concernsAdmin({ isForAdmin: undefined, request: ctx.req })) return next();
    let isPreflight = true;
    await addHeaders(ctx, () => {
      isPreflight = false;
      return next();
    });
    if (isPreflight) ctx.res.writeHead(204).end();
  };
}
