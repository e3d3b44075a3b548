import type { ByteString } from '../object/bytes.js';
import type { Version } from './entry.js';

/** Kinds of conflicts in a merge, named as `git merge` names them. */
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
 * Report about a conflict in a merge. The first path is the one in conflict. The other paths are those involved, such
 * as the path before a rename.
 */
export interface ConflictMessage {
  readonly kind: ConflictKind;
  readonly paths: readonly ByteString[];
}

/** Path in conflict, with its versions in the merged trees as far as they exist, as `git ls-files -u` lists them. */
export interface Conflict {
  readonly path: ByteString;
  readonly base?: Version;
  readonly ours?: Version;
  readonly theirs?: Version;
}
