import type { ByteString } from '../object/bytes.js';
import type { Oid } from '../object/object.js';

/** Consecutive lines of the blamed file that were introduced by one commit. Line numbers start at 0. */
export interface BlamedLines {
  readonly start: number;
  readonly count: number;
  readonly commit: Oid;
  /**
   * Position of the lines in the commit that introduced them: path of the file, and number of the first line in that
   * version.
   */
  readonly originalPath: ByteString;
  readonly originalStart: number;
  /**
   * Version of the file in the parent of `commit`, which does not contain the lines yet; undefined if there is no such
   * file.
   */
  readonly previous?: { readonly commit: Oid; readonly path: ByteString };
  /** True if `commit` has no parents. The lines may then be older than the stored history. */
  readonly isBoundary: boolean;
}
