/**
 * Folder of a program (the emulator or the conformance suite) with its subfolders, and the imports that its modules may
 * have.
 */
export interface Folder {
  /** Path below the program's folder, e.g. `git/pack`. */
  readonly path: string;
  /** Description of the folder's content, for the table of folders in CONTRIBUTING.md. */
  readonly content: string;
  /**
   * Other folders that modules of this folder may import, as paths below the program's folder. Undefined if
   * unrestricted. A folder may import only folders before it in the table, so imports have no cycles.
   */
  readonly imports?: readonly string[];
  /** True if rules of this folder also hold for its subfolders, such as `journal/client-rules`. */
  readonly isNested?: true;
}

export interface Program {
  readonly name: 'emulator' | 'conformance';
  /** Import pattern of the other program, which no file of this program may import, and the reason. */
  readonly never: { readonly group: string; readonly reason: string };
  readonly folders: readonly Folder[];
}
