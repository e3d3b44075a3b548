export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Route {
  readonly method: Method;
  /** Path such as `/api/repos/{repo_name}/grep`. A `{parameter}` matches one segment. */
  readonly path: string;
}

/** Properties of an operation that the router uses. */
export interface Routed {
  readonly id: string;
  /** Preferred route first, then its aliases. */
  readonly routes: readonly Route[];
  /** True if HEAD is handled like GET. Default: true for GET routes. */
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
