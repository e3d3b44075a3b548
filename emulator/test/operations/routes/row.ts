/** One repository, in the state described here when each request of the table is sent. */
export interface Fixture {
  readonly name: string;
  /** First and second commit of `main`. The first one has a note and the tag `v1/rc`. */
  readonly first: string;
  readonly tip: string;
  /** The tip of `topic`, one commit ahead of `main`; `scratch` is an ephemeral branch at `main`. */
  readonly topic: string;
  /** The tip of the notes. */
  readonly notes: string;
  readonly credential: string;
  readonly deployment: string;
}

/** Parts of a request that a client adds to method and route. */
export interface Sent {
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly json?: unknown;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One operation, in the forms that clients of every generation use. */
export interface RouteRow {
  readonly method: string;
  /** Routes with placeholders such as `{repo_name}`, filled in from the fixture. */
  readonly routes: readonly string[];
  /** Scopes that are sufficient together. The token has no others. */
  readonly scopes: readonly string[];
  /** Suffix of the fixture's name: `-bare` is an empty repository, `-new` one that does not exist. */
  readonly suffix?: '-bare' | '-new';
  /** The token's `repo` claim if it is not the repository's name. */
  readonly claim?: string;
  /** Requests with the member names of older clients, then with those of newer clients where they differ. */
  readonly sends: readonly ((fixture: Fixture) => Sent)[];
  readonly ok: number;
  /** Pattern for `t.match`: members that at least one client needs. Absent if the response is not JSON. */
  readonly answers?: object;
  readonly headers?: Readonly<Record<string, RegExp>>;
}

export type RouteRows = Readonly<Record<string, RouteRow>>;

export const READ = ['git:read'];
export const WRITE = ['git:write'];
export const ADMIN = ['repo:write'];

export const SHA = /^[0-9a-f]{40}$/;
export const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** Returns the route of newer clients and its older alias. */
export function both(path: string): string[] {
  return [`/api/repos/{repo_name}/${path}`, `/api/v1/repos/${path}`];
}

export function nothing(): Sent {
  return {};
}
