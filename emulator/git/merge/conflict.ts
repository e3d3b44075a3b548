import type { ByteString } from '../object/bytes.js';
import type { Version } from './entry.js';

/** Kinds of conflicts in a merge, with the names that `git merge` prints. */
export type ConflictKind =
  | 'content'
  | 'add/add'
  | 'submodule'
  | 'modify/delete'
  | 'rename/delete'
  | 'rename/rename'
  | 'rename involved in collision'
  | 'file/directory'
  | 'distinct types'
  | 'file location'
  | 'implicit dir rename'
  | 'directory rename split';

/**
 * Report about a conflict in a merge. The first path is the one in conflict. The other paths are involved, such as the
 * path of a file before it was renamed.
 */
export interface ConflictMessage {
  readonly kind: ConflictKind;
  readonly paths: readonly ByteString[];
}

/**
 * Path in conflict with its versions in the base and in both sides, as `git ls-files -u` lists them. An absent version
 * is undefined.
 */
export interface Conflict {
  readonly path: ByteString;
  readonly base?: Version;
  readonly ours?: Version;
  readonly theirs?: Version;
}
