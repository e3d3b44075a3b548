import type { ByteString } from '../object/bytes.js';
import type { Version } from './entry.js';

/** Kinds of conflict, by the names `git merge` gives them. */
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

/** Something that went wrong, and the paths it concerns: first the one it is about. */
export interface ConflictMessage {
  readonly kind: ConflictKind;
  readonly paths: readonly ByteString[];
}

/** A path in conflict, with the versions there are, as `git ls-files -u` would list them. */
export interface Conflict {
  readonly path: ByteString;
  readonly base?: Version;
  readonly ours?: Version;
  readonly theirs?: Version;
}
