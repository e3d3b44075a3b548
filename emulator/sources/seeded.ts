/** Result of filling a repository from a source, such as a folder or a bundle. */
export interface Seeded {
  readonly name: string;
  readonly organization: string;
  /** True if the repository was created, false if it existed before. */
  readonly isNew: boolean;
  readonly defaultBranch: string | undefined;
  /** Commit to which the default branch points; undefined if it has no commits. */
  readonly commit: string | undefined;
  /** True if the source consisted of files without history, which became one commit. */
  readonly isFiles: boolean;
  /** Object ids of all refs that the source had, by full ref name. */
  readonly refs: Readonly<Record<string, string>>;
}

export interface SeedOptions {
  /** Default branch of a new repository that is filled with files; default: `main`. */
  readonly defaultBranch?: string | undefined;
}
