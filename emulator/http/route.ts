export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Route {
  readonly method: Method;
  /** Path template, such as `/api/repos/{repo_name}/grep`. A `{parameter}` matches one segment. */
  readonly path: string;
}

/** Properties of an API operation that the router needs to match requests. */
export interface Routed {
  readonly id: string;
  /** Methods and paths of the operation. The first route is preferred; the others are aliases. */
  readonly routes: readonly Route[];
  /** True if a HEAD request is treated like a GET request to the operation. Default: true for GET routes. */
  readonly head?: boolean;
}

/**
 * Format of the error responses of an operation.
 *
 * - `problem`: RFC 9457 problem details.
 * - `error`: `{"error": text}` and nothing else.
 * - `result`: problem details for gateway errors and malformed bodies, and the write result for other errors.
 * - `git`: plain text, which the git client prints after `remote:`.
 * - `lfs`: `{"message": text, "request_id": id}`, which git-lfs prints.
 */
export type Dialect = 'problem' | 'error' | 'result' | 'git' | 'lfs';
