import type { ByteString } from '../git/object/bytes.js';
import type { Oid } from '../git/object/object.js';

export interface SourceRef {
  readonly name: ByteString;
  readonly oid: Oid;
}

/** Objects that are somewhere else. */
export interface PackedObjects {
  /** Packs, each complete in itself. */
  packs(): AsyncIterable<AsyncIterable<Uint8Array>>;
  /** Objects that are in no pack: as Git has them in files of their own, deflated. */
  looseObjects?(): AsyncIterable<{ readonly oid: string; readonly deflated: Buffer }>;
}

/** A history that is somewhere else: refs, and all that they lead to. */
export interface HistorySource extends PackedObjects {
  readonly title: string;
  readonly refs: readonly SourceRef[];
  /** The ref that HEAD names; a commit where it names none; undefined where there is neither. */
  readonly head: { readonly symref: ByteString } | { readonly oid: Oid } | undefined;
  /** Closes the connection to it. */
  close?(): Promise<void>;
}

/** What is taken over of a history: not the refs of remotes, nor those that only a tool knows. */
export const TAKEN_REFS = ['refs/heads/', 'refs/tags/', 'refs/notes/'] as const;

export function isTaken(name: ByteString): boolean {
  return TAKEN_REFS.some((prefix) => name.startsWith(prefix));
}
