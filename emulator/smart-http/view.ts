import { type ByteString, bytesOf, concatBytes, NO_BYTES, sliceBytes } from '../git/object/bytes.js';
import type { Oid } from '../git/object/object.js';
import type { Refs } from '../git/refs/refs.js';
import type { GitRepository } from '../git/repository/repository.js';

/** Refs of one namespace live under `refs/namespaces/<name>/`, as gitnamespaces has it. */
const NAMESPACES = bytesOf('refs/namespaces/');
export const HEAD = bytesOf('HEAD');

/**
 * A repository as one remote shows it. `prefix` is empty for the normal refs and
 * `refs/namespaces/<name>/` for a namespace; refs elsewhere are neither shown nor writable.
 */
export interface RepositoryView {
  readonly repository: GitRepository;
  readonly prefix: ByteString;
}

/** Whether a ref of that name, as the client writes it, is out of its reach. */
export function isHidden(view: RepositoryView, name: ByteString): boolean {
  return view.prefix === '' && name.startsWith(NAMESPACES);
}

/** Name and id of every ref the view shows whose shown name starts with `start`, in byte order. */
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
  /** The branch it points to, as the view names it; undefined when HEAD is detached. */
  readonly symref: ByteString | undefined;
  /** Undefined while the branch is unborn. */
  readonly oid: Oid | undefined;
}

/** HEAD as the view shows it: a namespace has the default branch's name in common, and no detached HEAD. */
export function visibleHead(refs: Refs, prefix: ByteString): VisibleHead | undefined {
  const { head } = refs;
  if ('oid' in head) return prefix === '' ? { symref: undefined, oid: head.oid } : undefined;
  return { symref: head.symref, oid: refs.get(concatBytes(prefix, head.symref)) };
}

/** The id of a ref by the name the client uses, HEAD included. */
export function resolveVisible(view: RepositoryView, refs: Refs, name: ByteString): Oid | undefined {
  if (name === HEAD) return visibleHead(refs, view.prefix)?.oid;
  return isHidden(view, name) ? undefined : refs.get(concatBytes(view.prefix, name));
}

/** Ids of everything the view shows. */
export function* visibleTips(refs: Refs, prefix: ByteString): IterableIterator<Oid> {
  const head = visibleHead(refs, prefix)?.oid;
  if (head) yield head;
  for (const [, oid] of visibleRefs(refs, prefix)) yield oid;
}
