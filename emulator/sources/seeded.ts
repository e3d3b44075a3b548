/** Result of filling a repository. */
export interface Seeded {
  readonly name: string;
  readonly organization: string;
  /** True if the repository was created. */
  readonly isNew: boolean;
  readonly defaultBranch: string | undefined;
  /** Commit of the default branch; undefined if it has none. */
  readonly commit: string | undefined;
  /** True if the source contained files without history. */
  readonly isFiles: boolean;
  /** Object ids of all refs of the source, by full name. */
  readonly refs: Readonly<Record<string, string>>;
}

export interface SeedOptions {
  /** Default branch of a new repository filled with files; default: `main`. */
  readonly defaultBranch?: string | undefined;
}
