import { type ByteString, bytesOf, concatBytes, NO_BYTES, sliceBytes } from '../git/object/bytes.js';
import type { Oid } from '../git/object/object.js';
import type { Refs } from '../git/refs/refs.js';
import type { GitRepository } from '../git/repository/repository.js';

/** Prefix of the names of the refs that belong to ref namespaces: `refs/namespaces/<name>/` (gitnamespaces). */
const NAMESPACES = bytesOf('refs/namespaces/');
export const HEAD = bytesOf('HEAD');

/**
 * Repository as clients of one remote URL see it. `prefix` is empty for the normal refs, and `refs/namespaces/<name>/`
 * for a ref namespace. Refs outside the prefix are neither visible nor writable.
 */
export interface RepositoryView {
  readonly repository: GitRepository;
  readonly prefix: ByteString;
}

/**
 * Returns true if a ref cannot be read or written through this view. `name` is the name that the client uses, without
 * the prefix of the view.
 */
export function isHidden(view: RepositoryView, name: ByteString): boolean {
  return view.prefix === '' && name.startsWith(NAMESPACES);
}

/**
 * Yields the name (without the prefix of the view) and the object id of every visible ref whose name starts with
 * `start`, in byte order.
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
  /** Name, without the prefix of the view, of the branch that HEAD points to; undefined if HEAD is detached. */
  readonly symref: ByteString | undefined;
  /** Object id of the branch that HEAD points to; undefined if the branch is unborn (has no commit). */
  readonly oid: Oid | undefined;
}

/**
 * Returns HEAD as a client of the view sees it. In a ref namespace, HEAD points to the branch of the namespace that has
 * the name of the default branch. A detached HEAD does not exist there.
 */
export function visibleHead(refs: Refs, prefix: ByteString): VisibleHead | undefined {
  const { head } = refs;
  if ('oid' in head) return prefix === '' ? { symref: undefined, oid: head.oid } : undefined;
  return { symref: head.symref, oid: refs.get(concatBytes(prefix, head.symref)) };
}

/**
 * Returns the object id of a ref or of HEAD by the name that the client uses; undefined if it does not exist or is not
 * visible.
 */
export function resolveVisible(view: RepositoryView, refs: Refs, name: ByteString): Oid | undefined {
  if (name === HEAD) return visibleHead(refs, view.prefix)?.oid;
  return isHidden(view, name) ? undefined : refs.get(concatBytes(view.prefix, name));
}

/** Yields the object ids of HEAD and of all visible refs. An id can occur several times. */
export function* visibleTips(refs: Refs, prefix: ByteString): IterableIterator<Oid> {
  const head = visibleHead(refs, prefix)?.oid;
  if (head) yield head;
  for (const [, oid] of visibleRefs(refs, prefix)) yield oid;
}
