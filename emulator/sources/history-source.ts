import type { ByteString } from '../git/object/bytes.js';
import type { Oid } from '../git/object/object.js';

export interface SourceRef {
  readonly name: ByteString;
  readonly oid: Oid;
}

/** Objects of a repository outside of the emulator, from which objects are imported. */
export interface PackedObjects {
  /** Yields the bytes of each pack. Packs are self-contained: no delta has its base outside of its pack. */
  packs(): AsyncIterable<AsyncIterable<Uint8Array>>;
  /** Yields the loose objects as Git stores them: deflated, with type and size at the start. */
  looseObjects?(): AsyncIterable<{ readonly oid: string; readonly deflated: Buffer }>;
}

/**
 * History of a repository outside of the emulator that is to be imported: refs, and all objects reachable from them.
 */
export interface HistorySource extends PackedObjects {
  readonly title: string;
  readonly refs: readonly SourceRef[];
  /** Ref to which HEAD points, or a commit if HEAD is detached; undefined if HEAD resolves to nothing. */
  readonly head: { readonly symref: ByteString } | { readonly oid: Oid } | undefined;
  /** Closes the network connection to the source, if there is one. */
  close?(): Promise<void>;
}

/** Prefixes of the refs that are imported. Remote-tracking refs and refs of other programs are not imported. */
export const TAKEN_REFS = ['refs/heads/', 'refs/tags/', 'refs/notes/'] as const;

export function isTaken(name: ByteString): boolean {
  return TAKEN_REFS.some((prefix) => name.startsWith(prefix));
}
