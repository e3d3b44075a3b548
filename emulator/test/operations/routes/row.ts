/**
 * Repository that the requests of the route table use. Each request finds it in the state that the members describe.
 */
export interface Fixture {
  readonly name: string;
  /** Ids of the first and the second commit on `main`. The first has a note and the tag `v1/rc`. */
  readonly first: string;
  readonly tip: string;
  /**
   * Id of the last commit on `topic`, which is one commit ahead of `main`. The ephemeral branch `scratch` points to the
   * tip of `main`.
   */
  readonly topic: string;
  /** Id of the last commit on the notes ref. */
  readonly notes: string;
  readonly credential: string;
  readonly deployment: string;
}

/** Parts of a request other than method and route. */
export interface Sent {
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly json?: unknown;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Requests of one API operation, in all forms that old and new clients use. Also has the expected response. */
export interface RouteRow {
  readonly method: string;
  /**
   * Routes with placeholders such as `{repo_name}`. The test fills them with values of the fixture (prepared
   * repository).
   */
  readonly routes: readonly string[];
  /** Scopes of the token: exactly those that the operation requires. */
  readonly scopes: readonly string[];
  /**
   * Suffix that selects another repository for the request: `-bare` for an empty one, `-new` for one that does not
   * exist.
   */
  readonly suffix?: '-bare' | '-new';
  /** Value of the token's claim `repo`. Undefined if it is the repository of the request. */
  readonly claim?: string;
  /**
   * Functions that return a request to the operation. The first uses the member and parameter names of older clients.
   * If newer clients use other names, a second function sends those.
   */
  readonly sends: readonly ((fixture: Fixture) => Sent)[];
  readonly ok: number;
  /**
   * Pattern for `t.match` that the response body must match. It has the members that some client needs. Undefined if
   * the response is not JSON.
   */
  readonly answers?: object;
  readonly headers?: Readonly<Record<string, RegExp>>;
}

export type RouteRows = Readonly<Record<string, RouteRow>>;

export const READ = ['git:read'];
export const WRITE = ['git:write'];
export const ADMIN = ['repo:write'];

export const SHA = /^[0-9a-f]{40}$/;
export const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** Returns the two routes of an operation: the one that newer clients use, and its older alias. */
export function both(path: string): string[] {
  return [`/api/repos/{repo_name}/${path}`, `/api/v1/repos/${path}`];
}

export function nothing(): Sent {
  return {};
}
