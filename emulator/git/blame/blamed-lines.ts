import type { ByteString } from '../object/bytes.js';
import type { Oid } from '../object/object.js';

/** Consecutive lines of the blamed file that were introduced by one commit. Line numbers start at 0. */
export interface BlamedLines {
  readonly start: number;
  readonly count: number;
  readonly commit: Oid;
  /**
   * Path of the file in the commit that introduced the lines, and the number that the first of the lines has in this
   * version of the file.
   */
  readonly originalPath: ByteString;
  readonly originalStart: number;
  /**
   * Version of the file in the parent of `commit`, which does not contain the lines yet; undefined if there is no such
   * file.
   */
  readonly previous?: { readonly commit: Oid; readonly path: ByteString };
  /** True if `commit` has no parents. Its lines may then be older than the stored history. */
  readonly isBoundary: boolean;
}
