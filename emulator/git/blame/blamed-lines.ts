import type { ByteString } from '../object/bytes.js';
import type { Oid } from '../object/object.js';

/** Consecutive lines that one commit introduced into a file. Line numbers start at 0. */
export interface BlamedLines {
  readonly start: number;
  readonly count: number;
  readonly commit: Oid;
  /** Path of the file in that commit, and the first of these lines in it. */
  readonly originalPath: ByteString;
  readonly originalStart: number;
  /** File in the commit's parent that did not contain the lines yet; undefined if none. */
  readonly previous?: { readonly commit: Oid; readonly path: ByteString };
  /** True if the commit has no parents, so that the lines may be older than the history. */
  readonly isBoundary: boolean;
}
