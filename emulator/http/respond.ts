import type { Variants } from '../config/variants.js';
import { type Problem, shownCode, staysProblem } from './problem.js';
import { bytes, json, type Reply } from './reply.js';
import type { Dialect } from './route.js';

export interface RenderContext {
  readonly dialect: Dialect;
  /** Path of the request, which the error response shows as `instance`. */
  readonly path: string;
  /** Id of the request, which is part of LFS errors. Undefined if the request has no id. */
  readonly requestId?: string;
  readonly variants: Variants;
  /**
   * Replaces `forge` at the start of error codes, as in `forge_app_not_configured`. A deployment uses the name of its
   * forge.
   */
  readonly forgePrefix: string;
}

/**
 * Returns the response for an error, in the error format (dialect) of its operation. All error responses are created
 * here.
 */
export function renderProblem(error: Problem, context: RenderContext): Reply {
  const { code, detail, status, title } = error;
  const headers = error.options.headers ?? {};
  switch (dialectOf(error, context)) {
    case 'error':
      return json(status, { error: detail }, headers);
    case 'git':
      return bytes(status, Buffer.from(`${detail}\n`), { 'content-type': 'text/plain; charset=utf-8', ...headers });
    case 'lfs':
      return json(status, writeLfsError(error, context), {
        ...headers,
        // Adds the header that git-lfs reads instead of WWW-Authenticate: "This mirrors the standard WWW-Authenticate
        // header with a custom header key" (git-lfs, docs/api/batch.md).
        ...(headers['www-authenticate'] && { 'lfs-authenticate': headers['www-authenticate'] }),
        'content-type': 'application/vnd.git-lfs+json',
      });
    case 'result':
      return json(status, error.options.result, headers);
    case 'problem': {
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
          code: error.options.shownAs ?? shownCode(code, context.forgePrefix),
          ...error.options.result,
          ...error.options.extra,
        },
        { ...headers, 'content-type': `application/problem+json${type}` },
      );
    }
  }
}

/**
 * Returns the members of a Git LFS error (git-lfs, docs/api/batch.md, "Response Errors"). If a lock conflicts with an
 * existing lock, the existing lock is included.
 */
function writeLfsError({ detail, options }: Problem, { requestId }: RenderContext): Readonly<Record<string, unknown>> {
  return {
    message: detail,
    documentation_url: 'https://github.com/git-lfs/git-lfs/tree/main/docs/api',
    ...(requestId !== undefined && { request_id: requestId }),
    ...options.extra,
  };
}

/**
 * Returns the format in which an error is rendered. It is the format of the operation, except for errors that the
 * gateway detects before the operation runs.
 */
export function dialectOf(error: Problem, context: Pick<RenderContext, 'dialect' | 'variants'>): Dialect {
  const { dialect, variants } = context;
  if (dialect === 'error') {
    // Unknown routes and throttling are detected before routing, so they are problem details. A 429 without rate
    // headers is the operation's own error (its tree limit), so it has the operation's format.
    if (error.code === 'route_not_found') return 'problem';
    const { ratelimit, 'retry-after': retryAfter } = error.options.headers ?? {};
    if (error.code === 'rate_limited' && (ratelimit ?? retryAfter) !== undefined) return 'problem';
    return variants.fileMetadataErrors === 'problem' ? 'problem' : 'error';
  }
  if (dialect === 'git' || dialect === 'lfs') return dialect;
  if (error.options.result === undefined || staysProblem(error.code)) return 'problem';
  if (variants.writeFailureBody === 'problem') return 'problem';
  return dialect === 'result' || variants.writeFailureBody === 'all' ? 'result' : 'problem';
}
