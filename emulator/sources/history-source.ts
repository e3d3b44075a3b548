import type { ByteString } from '../git/object/bytes.js';
import type { Oid } from '../git/object/object.js';

export interface SourceRef {
  readonly name: ByteString;
  readonly oid: Oid;
}

/** Objects in an external source. */
export interface PackedObjects {
  /** Packs, each self-contained. */
  packs(): AsyncIterable<AsyncIterable<Uint8Array>>;
  /** Loose objects, deflated. */
  looseObjects?(): AsyncIterable<{ readonly oid: string; readonly deflated: Buffer }>;
}

/** History in an external source: refs and everything reachable from them. */
export interface HistorySource extends PackedObjects {
  readonly title: string;
  readonly refs: readonly SourceRef[];
  /** Ref that HEAD names; a commit if HEAD is detached; undefined if HEAD resolves to nothing. */
  readonly head: { readonly symref: ByteString } | { readonly oid: Oid } | undefined;
  /** Closes the connection to the source. */
  close?(): Promise<void>;
}

/** Prefixes of the refs that are imported. Remote-tracking refs and refs of tools are not. */
export const TAKEN_REFS = ['refs/heads/', 'refs/tags/', 'refs/notes/'] as const;

export function isTaken(name: ByteString): boolean {
  return TAKEN_REFS.some((prefix) => name.startsWith(prefix));
}
