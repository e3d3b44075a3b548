/* Records of the admin API, with the members that are shown. */

export interface RepositoryRecord {
  readonly id: string;
  readonly name: string;
  readonly organization: string;
  readonly state: string;
  readonly default_branch: string | null;
  readonly head: string | null;
  readonly refs: number;
  readonly objects: number;
  readonly created_at: string;
  readonly base_repo?: { readonly provider: string; readonly owner: string; readonly name: string };
}

/** What a repository is to clients, and until when. */
export interface StateRecord {
  readonly state: string;
  readonly ends?: {
    readonly requests?: number;
    readonly at?: string;
    readonly after?: number;
    readonly signal?: string;
  };
  readonly retryAfter?: number;
}

export interface States {
  readonly repositories: Readonly<Record<string, StateRecord>>;
}

export interface RefRecord {
  readonly name: string;
  readonly name_bytes?: string;
  readonly short: string;
  readonly kind: 'branch' | 'tag' | 'note' | 'other';
  readonly namespace: string | null;
  readonly oid: string;
  readonly type: string;
  readonly commit: string | null;
  readonly created_at: string;
}

/** A commit in one line. */
export interface CommitLine {
  readonly oid: string;
  readonly subject: string;
  readonly author: string;
  readonly author_email: string;
  readonly authored_at: string;
  readonly committed_at: string;
}

export interface GraphCommit extends CommitLine {
  readonly parents: readonly string[];
  readonly refs?: readonly string[];
}

interface Person {
  readonly name: string;
  readonly email: string;
  readonly date: string;
}

/** Bytes as text, or in base64 where they are none. */
export interface Content {
  readonly size: number;
  readonly encoding: 'utf-8' | 'base64';
  readonly content: string;
  readonly is_truncated: boolean;
}

export interface CommitRecord {
  readonly oid: string;
  readonly message: string;
  readonly is_message_truncated: boolean;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Person;
  readonly committer: Person;
  readonly encoding?: string;
  readonly signature?: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly refs: readonly string[];
  readonly notes: readonly ({ readonly ref: string; readonly oid: string } & Content)[];
}

export interface TagRecord {
  readonly name: string;
  readonly object: string;
  readonly type: string;
  readonly tagger: Person | null;
  readonly message: string;
  readonly is_message_truncated: boolean;
}

export interface ChangedFile {
  readonly path: string;
  readonly path_bytes?: string;
  readonly old_path?: string;
  readonly old_path_bytes?: string;
  readonly state: string;
  readonly old_mode: string | null;
  readonly mode: string | null;
  readonly old_oid: string | null;
  readonly oid: string | null;
  readonly old_size: number;
  readonly size: number;
  readonly is_binary: boolean;
  readonly additions: number;
  readonly deletions: number;
  readonly patch: string;
  readonly is_truncated: boolean;
}

export interface CommitDiff {
  readonly base: string | null;
  readonly stats: { readonly files: number; readonly additions: number; readonly deletions: number };
  readonly files: readonly ChangedFile[];
  readonly is_truncated: boolean;
}

export interface TreeEntry {
  readonly name: string;
  readonly name_bytes?: string;
  readonly mode: string;
  readonly type: 'tree' | 'blob' | 'commit';
  readonly oid: string;
  readonly size: number | null;
}

/** What lies at a path: a file, or what has no content. */
export type FoundContent = {
  readonly commit: string;
  readonly mode: string;
  readonly oid: string;
} & (({ readonly type: 'blob' } & Content) | { readonly type: 'tree' | 'commit' });

export interface Blame {
  readonly ranges: readonly {
    readonly line: number;
    readonly lines: number;
    readonly commit: string;
    readonly original_line: number;
    readonly original_path: string;
    readonly previous?: string;
  }[];
  readonly commits: readonly CommitLine[];
}

/** An open repository as its parts are given it. */
export interface Opened {
  readonly record: RepositoryRecord;
  readonly refs: readonly RefRecord[];
}
