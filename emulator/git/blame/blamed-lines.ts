import type { ByteString } from '../object/bytes.js';
import type { Oid } from '../object/object.js';

/** Consecutive lines of the blamed file that one commit introduced. Line numbers start at 0. */
export interface BlamedLines {
  readonly start: number;
  readonly count: number;
  readonly commit: Oid;
  /**
   * Position of the lines in `commit`: path of the file, and number of their first line in that version of the file.
   */
  readonly originalPath: ByteString;
  readonly originalStart: number;
  /**
   * Version of the file in the parent of `commit`, before the lines were introduced; undefined if the parent has no
   * such file.
   */
  readonly previous?: { readonly commit: Oid; readonly path: ByteString };
  /** True if `commit` has no parents. The lines may then be older than the stored history. */
  readonly isBoundary: boolean;
}
