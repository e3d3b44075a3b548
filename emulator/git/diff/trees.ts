import { requestLimit } from '../limits/request-limits.js';
import { type ByteString, concatBytes, NO_BYTES, SLASH } from '../object/bytes.js';
import { EMPTY_TREE_OID, type ObjectReader, type Oid } from '../object/object.js';
import { canonicalMode, MODE_TREE, readTreeBody, TreeScanner } from '../object/tree.js';
import type { PathFilter } from './path-filter.js';

/** One side of a changed path. */
export interface Side {
  readonly path: ByteString;
  readonly mode: number;
  readonly oid: Oid;
}

/** A path that differs between two trees: only `after` was added, only `before` deleted, both modified. */
export interface TreeChange {
  readonly before?: Side;
  readonly after?: Side;
}

export interface TreeDiffOptions {
  readonly paths?: PathFilter | undefined;
  /** Report equal files too; every tree is read then. */
  readonly withUnchanged?: boolean | undefined;
  /** Entries and folders looked at before giving up with `TooManyChanges`: few objects can make endless trees. */
  readonly limit?: number | undefined;
}

/** Thrown when two trees differ in more entries than the limit. */
export class TooManyChanges extends Error {
  override readonly name = 'TooManyChanges';
  constructor(readonly limit: number) {
    super(`the trees differ in more than ${limit} entries`);
  }
}

const SLASH_CODE = 0x2f;

interface Folder {
  readonly before: TreeScanner;
  readonly after: TreeScanner;
  /** Whether the scanners stand on an entry. */
  hasBefore: boolean;
  hasAfter: boolean;
  /** The folder's path and a slash; empty for the root. */
  readonly base: ByteString;
  /** Everything below is wanted, whatever the filter. */
  readonly isWanted: boolean;
}

/**
 * The files, links and gitlinks that differ between two trees (undefined: the empty tree), in order of their
 * paths. Equal folders are never opened; folders of any depth are.
 */
export function* diffTreeEntries(
  objects: ObjectReader,
  before: Oid | undefined,
  after: Oid | undefined,
  options: TreeDiffOptions = {},
): IterableIterator<TreeChange> {
  const { paths, withUnchanged = false, limit = requestLimit('diffEntries') } = options;
  if (before === after && !withUnchanged) return;
  let seen = 0;
  const stack: Folder[] = [openFolder(objects, before, after, NO_BYTES, paths === undefined)];
  for (let folder = stack.at(-1); folder !== undefined; folder = stack.at(-1)) {
    const { before, after, base } = folder;
    if (!folder.hasBefore && !folder.hasAfter) {
      stack.pop();
      continue;
    }
    const order = !folder.hasBefore ? 1 : !folder.hasAfter ? -1 : compareNames(before, after);
    const old = order <= 0 ? before : undefined;
    const young = order >= 0 ? after : undefined;
    const isEqual = old !== undefined && young !== undefined && isSame(old, young);
    if (!isEqual || withUnchanged) {
      if (++seen > limit) throw new TooManyChanges(limit);
      const name = (old ?? young!).name;
      const isTree = (old ?? young!).isTree;
      const path = concatBytes(base, name);
      const isWanted = folder.isWanted || paths!.covers(path);
      if (isTree) {
        if (isWanted || paths!.leadsInto(path)) {
          stack.push(openFolder(objects, old?.oid, young?.oid, concatBytes(path, SLASH), isWanted));
        }
      } else if (isWanted) {
        yield { ...(old && { before: sideOf(old, path) }), ...(young && { after: sideOf(young, path) }) };
      }
    }
    if (old) folder.hasBefore = old.next();
    if (young) folder.hasAfter = young.next();
  }
}

function openFolder(
  objects: ObjectReader,
  before: Oid | undefined,
  after: Oid | undefined,
  base: ByteString,
  isWanted: boolean,
): Folder {
  const old = new TreeScanner(readTreeBody(objects, before ?? EMPTY_TREE_OID));
  const young = new TreeScanner(readTreeBody(objects, after ?? EMPTY_TREE_OID));
  return { before: old, after: young, hasBefore: old.next(), hasAfter: young.next(), base, isWanted };
}

function sideOf(entry: TreeScanner, path: ByteString): Side {
  return { path, mode: canonicalMode(entry.mode), oid: entry.oid };
}

function isSame(a: TreeScanner, b: TreeScanner): boolean {
  return (
    canonicalMode(a.mode) === canonicalMode(b.mode) &&
    a.body.compare(b.body, b.oidStart, b.oidStart + 20, a.oidStart, a.oidStart + 20) === 0
  );
}

/** Git's order of tree entries; a file and a folder of one name are two entries. */
function compareNames(a: TreeScanner, b: TreeScanner): number {
  const aLength = a.nameEnd - a.nameStart;
  const bLength = b.nameEnd - b.nameStart;
  const shorter = Math.min(aLength, bLength);
  for (let at = 0; at < shorter; at++) {
    const difference = a.body[a.nameStart + at]! - b.body[b.nameStart + at]!;
    if (difference !== 0) return difference;
  }
  return byteAfter(a, shorter) - byteAfter(b, shorter);
}

function byteAfter(entry: TreeScanner, at: number): number {
  if (at < entry.nameEnd - entry.nameStart) return entry.body[entry.nameStart + at]!;
  return (entry.mode & 0o170000) === MODE_TREE ? SLASH_CODE : 0;
}
