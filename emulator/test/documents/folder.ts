/** One folder of a program: the modules in it and in its subfolders. */
export interface Folder {
  /** Path below the program's folder, e.g. `git/pack`. */
  readonly path: string;
  /** Describes the content, for the map in CONTRIBUTING.md. */
  readonly content: string;
  /**
   * Folders it may import besides itself, as paths below the program's folder. `undefined` if unrestricted.
   * A folder imports only folders that stand above it in the table, so imports have no cycles.
   */
  readonly imports?: readonly string[];
  /** True if it has subfolders that belong to it, e.g. `journal/client-rules`. */
  readonly isNested?: true;
}

export interface Program {
  readonly name: 'emulator' | 'conformance';
  /** The other program, which no file may import, and why. */
  readonly never: { readonly group: string; readonly reason: string };
  readonly folders: readonly Folder[];
}
