/** What a repository has after it was filled. */
export interface Seeded {
  readonly name: string;
  readonly organization: string;
  /** Whether there was none of that name before. */
  readonly isNew: boolean;
  readonly defaultBranch: string | undefined;
  /** The commit of the default branch; undefined where it has none. */
  readonly commit: string | undefined;
  /** Whether the source had files and no history. */
  readonly isFiles: boolean;
  /** The ids of all refs of the source, by their full names. */
  readonly refs: Readonly<Record<string, string>>;
}

export interface SeedOptions {
  /** Of a new repository that is filled with files; `main` unless given. */
  readonly defaultBranch?: string | undefined;
}
