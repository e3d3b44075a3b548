/** Repository to which the requests of the route table are sent. Each request finds it in the state described here. */
export interface Fixture {
  readonly name: string;
  /** Ids of the first and second commit of `main`. The first commit has a note and the tag `v1/rc`. */
  readonly first: string;
  readonly tip: string;
  /**
   * Id of the last commit of the branch `topic`, which is one commit ahead of `main`. The ephemeral branch `scratch` is
   * at `main`.
   */
  readonly topic: string;
  /** Id of the last commit of the notes ref. */
  readonly notes: string;
  readonly credential: string;
  readonly deployment: string;
}

/** Parts of a request that a client sends in addition to method and route. */
export interface Sent {
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly json?: unknown;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Requests of one API operation, in all forms that old and new clients use, with the expected response. */
export interface RouteRow {
  readonly method: string;
  /**
   * Routes with placeholders such as `{repo_name}`. The test replaces the placeholders by values of the fixture
   * (prepared repository).
   */
  readonly routes: readonly string[];
  /** Scopes of the token, which together are sufficient for the operation. The token has no other scopes. */
  readonly scopes: readonly string[];
  /**
   * Suffix of the repository name in the request. `-bare` selects an empty repository, and `-new` one that does not
   * exist.
   */
  readonly suffix?: '-bare' | '-new';
  /** Repository in the token's `repo` claim. Absent if it is the repository of the request. */
  readonly claim?: string;
  /**
   * Functions that return a request to the operation. The first uses the names of members and parameters that older
   * clients send. If newer clients send other names, a second function uses those.
   */
  readonly sends: readonly ((fixture: Fixture) => Sent)[];
  readonly ok: number;
  /**
   * Pattern for `t.match` with the response members that at least one client needs. Absent if the response is not JSON.
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

/** Returns the route that newer clients use for an operation, and its older alias. */
export function both(path: string): string[] {
  return [`/api/repos/{repo_name}/${path}`, `/api/v1/repos/${path}`];
}

export function nothing(): Sent {
  return {};
}
