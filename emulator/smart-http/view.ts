import { type ByteString, bytesOf, concatBytes, NO_BYTES, sliceBytes } from '../git/object/bytes.js';
import type { Oid } from '../git/object/object.js';
import type { Refs } from '../git/refs/refs.js';
import type { GitRepository } from '../git/repository/repository.js';

/** Prefix of the refs of all ref namespaces: `refs/namespaces/<name>/` (gitnamespaces). */
const NAMESPACES = bytesOf('refs/namespaces/');
export const HEAD = bytesOf('HEAD');

/**
 * A repository as one remote shows it. `prefix` is empty for the normal refs, and `refs/namespaces/<name>/` for a ref
 * namespace. Refs outside the prefix are neither visible nor writable.
 */
export interface RepositoryView {
  readonly repository: GitRepository;
  readonly prefix: ByteString;
}

/** Returns true if a ref, named as the client writes it, is not accessible through this view. */
export function isHidden(view: RepositoryView, name: ByteString): boolean {
  return view.prefix === '' && name.startsWith(NAMESPACES);
}

/** Yields visible name and id of every visible ref whose visible name starts with `start`, in byte order. */
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
  /** Visible name of the branch that HEAD points to; undefined if HEAD is detached. */
  readonly symref: ByteString | undefined;
  /** Undefined while the branch is unborn. */
  readonly oid: Oid | undefined;
}

/**
 * Returns HEAD as the view shows it. A ref namespace uses the name of the default branch, and shows no detached HEAD.
 */
export function visibleHead(refs: Refs, prefix: ByteString): VisibleHead | undefined {
  const { head } = refs;
  if ('oid' in head) return prefix === '' ? { symref: undefined, oid: head.oid } : undefined;
  return { symref: head.symref, oid: refs.get(concatBytes(prefix, head.symref)) };
}

/** Returns the id of a ref (or HEAD) by its visible name; undefined if absent. */
export function resolveVisible(view: RepositoryView, refs: Refs, name: ByteString): Oid | undefined {
  if (name === HEAD) return visibleHead(refs, view.prefix)?.oid;
  return isHidden(view, name) ? undefined : refs.get(concatBytes(view.prefix, name));
}

/** Yields the ids of HEAD and all visible refs. */
export function* visibleTips(refs: Refs, prefix: ByteString): IterableIterator<Oid> {
  const head = visibleHead(refs, prefix)?.oid;
  if (head) yield head;
  for (const [, oid] of visibleRefs(refs, prefix)) yield oid;
}
