import type { ByteString } from '../object/bytes.js';
import type { Version } from './entry.js';

/** Kinds of conflict, named as `git merge` names them. */
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

/** Report about a conflict. The first path is the one it is about; the others are involved. */
export interface ConflictMessage {
  readonly kind: ConflictKind;
  readonly paths: readonly ByteString[];
}

/** Path in conflict, with the versions that exist, as `git ls-files -u` lists them. */
export interface Conflict {
  readonly path: ByteString;
  readonly base?: Version;
  readonly ours?: Version;
  readonly theirs?: Version;
}
