import type { ByteString } from '../object/bytes.js';
import type { Oid } from '../object/object.js';

/** Lines in a row that came into a file by one commit. Lines count from 0. */
export interface BlamedLines {
  readonly start: number;
  readonly count: number;
  readonly commit: Oid;
  /** The file in that commit, and where the lines are in it. */
  readonly originalPath: ByteString;
  readonly originalStart: number;
  /** The parent's file that did not have the lines yet. */
  readonly previous?: { readonly commit: Oid; readonly path: ByteString };
  /** The commit has no parents: the lines may be older than the history. */
  readonly isBoundary: boolean;
}
