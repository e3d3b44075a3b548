/** Folder of a program (the emulator or the conformance suite), and the imports that are allowed in it. */
export interface Folder {
  /** Path below the program's folder, e.g. `git/pack`. */
  readonly path: string;
  /** Description for the table of folders in CONTRIBUTING.md. */
  readonly content: string;
  /**
   * Other folders that this folder may import, as paths below the program's folder. Undefined if unrestricted. All of
   * them are earlier in the table, so imports have no cycles.
   */
  readonly imports?: readonly string[];
  /** True if the import rules also apply to subfolders, such as `journal/client-rules`. */
  readonly isNested?: true;
}

export interface Program {
  readonly name: 'emulator' | 'conformance';
  /** Import pattern of the other program, and the reason why no file may import it. */
  readonly never: { readonly group: string; readonly reason: string };
  readonly folders: readonly Folder[];
}
