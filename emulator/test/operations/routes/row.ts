/** One repository that every request of the table finds as it is described here. */
export interface Fixture {
  readonly name: string;
  /** `main` holds two commits; the first one has a note and the tag `v1/rc`. */
  readonly first: string;
  readonly tip: string;
  /** The tip of `topic`, one commit ahead of `main`; `scratch` is an ephemeral branch at `main`. */
  readonly topic: string;
  /** The tip of the notes. */
  readonly notes: string;
  readonly credential: string;
  readonly deployment: string;
}

/** What a client adds to method and route. */
export interface Sent {
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly json?: unknown;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One operation as clients of every generation use it. */
export interface RouteRow {
  readonly method: string;
  /** With `{repo_name}` and the like, filled in from the fixture. */
  readonly routes: readonly string[];
  /** The scopes that do, together; the token has no other. */
  readonly scopes: readonly string[];
  /** Added to the fixture's name: `-bare` is a repository with nothing in it, `-new` one that is not there. */
  readonly suffix?: '-bare' | '-new';
  /** The token's `repo` claim where it is not the repository's name. */
  readonly claim?: string;
  /** In the names of older clients, then in those of newer ones where they differ. */
  readonly sends: readonly ((fixture: Fixture) => Sent)[];
  readonly ok: number;
  /** As `t.match` takes it: members that some client cannot do without. None where the answer is not JSON. */
  readonly answers?: object;
  readonly headers?: Readonly<Record<string, RegExp>>;
}

export type RouteRows = Readonly<Record<string, RouteRow>>;

export const READ = ['git:read'];
export const WRITE = ['git:write'];
export const ADMIN = ['repo:write'];

export const SHA = /^[0-9a-f]{40}$/;
export const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** The route of newer clients and its older alias. */
export function both(path: string): string[] {
  return [`/api/repos/{repo_name}/${path}`, `/api/v1/repos/${path}`];
}

export function nothing(): Sent {
  return {};
}
