import { type ByteString, bytesOf, concatBytes, NO_BYTES, sliceBytes } from '../git/object/bytes.js';
import type { Oid } from '../git/object/object.js';
import type { Refs } from '../git/refs/refs.js';
import type { GitRepository } from '../git/repository/repository.js';

/** Prefix of all refs in ref namespaces. A namespace has the prefix `refs/namespaces/<name>/` (gitnamespaces). */
const NAMESPACES = bytesOf('refs/namespaces/');
export const HEAD = bytesOf('HEAD');

/**
 * Repository as seen through one remote URL. `prefix` is empty for the normal refs, and `refs/namespaces/<name>/` for a
 * ref namespace. Refs outside the prefix can be neither seen nor written.
 */
export interface RepositoryView {
  readonly repository: GitRepository;
  readonly prefix: ByteString;
}

/**
 * Returns true if a ref can be neither read nor written through this view. `name` is the client's name for the ref,
 * without the view's prefix.
 */
export function isHidden(view: RepositoryView, name: ByteString): boolean {
  return view.prefix === '' && name.startsWith(NAMESPACES);
}

/**
 * Yields the name and object id of every visible ref whose name starts with `start`, in byte order. Names do not
 * include the view's prefix.
 */
export function* visibleRefs(
  refs: Refs,
  prefix: ByteString,
  start: ByteString = NO_BYTES,
): IterableIterator<[ByteString, Oid]> {
  for (const [name, { oid }] of refs.entries(concatBytes(prefix, start))) {
    if (prefix !== '') yield [sliceBytes(name, prefix.length), oid];
    else if (!name.startsWith(NAMESPACES)) yield [name, oid];
  }
}

export interface VisibleHead {
  /** Name of the branch to which HEAD points, without the view's prefix. Undefined if HEAD is detached. */
  readonly symref: ByteString | undefined;
  /** Object id of the branch to which HEAD points. Undefined if the branch is unborn (has no commit). */
  readonly oid: Oid | undefined;
}

/**
 * Returns HEAD as a client of the view sees it. In a ref namespace, HEAD points to the namespace's own branch with the
 * name of the default branch. There is no detached HEAD in a namespace.
 */
export function visibleHead(refs: Refs, prefix: ByteString): VisibleHead | undefined {
  const { head } = refs;
  if ('oid' in head) return prefix === '' ? { symref: undefined, oid: head.oid } : undefined;
  return { symref: head.symref, oid: refs.get(concatBytes(prefix, head.symref)) };
}

/**
 * Returns the object id of a ref or of HEAD. `name` is the name that the client uses. Undefined if the ref does not
 * exist or is not visible.
 */
export function resolveVisible(view: RepositoryView, refs: Refs, name: ByteString): Oid | undefined {
  if (name === HEAD) return visibleHead(refs, view.prefix)?.oid;
  return isHidden(view, name) ? undefined : refs.get(concatBytes(view.prefix, name));
}

/** Yields the object ids of HEAD and of all visible refs. An id may occur several times. */
export function* visibleTips(refs: Refs, prefix: ByteString): IterableIterator<Oid> {
  const head = visibleHead(refs, prefix)?.oid;
  if (head) yield head;
  for (const [, oid] of visibleRefs(refs, prefix)) yield oid;
}
