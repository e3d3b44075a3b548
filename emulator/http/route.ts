export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Route {
  readonly method: Method;
  /** `/api/repos/{repo_name}/grep`; a `{parameter}` fills one segment. */
  readonly path: string;
}

/** What the router needs to know of an operation. */
export interface Routed {
  readonly id: string;
  /** Preferred route first, then its aliases. */
  readonly routes: readonly Route[];
  /** Whether HEAD answers like GET. Default: true for GET routes. */
  readonly head?: boolean;
}

/**
 * How an operation words its errors.
 * `problem`: RFC 9457 problem details. `error`: `{"error": text}` and nothing else.
 * `result`: problem details for gateway rejections and malformed bodies, the write result otherwise.
 * `git`: plain text, which the git client prints behind `remote:`.
 * `lfs`: `{"message": text, "request_id": id}`, which git-lfs prints.
 */
export type Dialect = 'problem' | 'error' | 'result' | 'git' | 'lfs';
