import { requestLimit } from '../limits/request-limits.js';
import { type ByteString, concatBytes, NO_BYTES, SLASH } from '../object/bytes.js';
import { EMPTY_TREE_OID, type ObjectReader, type Oid } from '../object/object.js';
import { readTreeBody } from '../object/read-tree.js';
import { canonicalMode, type PathEntry } from '../object/tree.js';
import type { TreeCursor } from '../object/tree-cursor.js';
import { TreePair } from '../object/tree-pair.js';
import type { PathFilter } from './path-filter.js';

/** A path that differs between two trees: only `after` was added, only `before` deleted, both modified. */
export interface TreeChange {
  readonly before?: PathEntry;
  readonly after?: PathEntry;
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

interface Folder {
  readonly pair: TreePair;
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
  const open = (before: Oid | undefined, after: Oid | undefined) =>
    new TreePair(
      readTreeBody(objects, before ?? EMPTY_TREE_OID),
      readTreeBody(objects, after ?? EMPTY_TREE_OID),
      withUnchanged,
    );
  let seen = 0;
  const stack: Folder[] = [{ pair: open(before, after), base: NO_BYTES, isWanted: paths === undefined }];
  for (let folder = stack.at(-1); folder !== undefined; folder = stack.at(-1)) {
    const { pair, base } = folder;
    if (!pair.next()) {
      stack.pop();
      continue;
    }
    if (pair.isSame && !withUnchanged) continue;
    if (++seen > limit) throw new TooManyChanges(limit);
    const { order } = pair;
    const entry = order > 0 ? pair.after : pair.before;
    const path = concatBytes(base, entry.name);
    const isWanted = folder.isWanted || paths!.covers(path);
    if (entry.isTree) {
      if (!isWanted && !paths!.leadsInto(path)) continue;
      const inner = open(order <= 0 ? pair.before.oid : undefined, order >= 0 ? pair.after.oid : undefined);
      stack.push({ pair: inner, base: concatBytes(path, SLASH), isWanted });
    } else if (isWanted) {
      yield {
        ...(order <= 0 && { before: pathEntry(pair.before, path) }),
        ...(order >= 0 && { after: pathEntry(pair.after, path) }),
      };
    }
  }
}

function pathEntry(entry: TreeCursor, path: ByteString): PathEntry {
  return { path, mode: canonicalMode(entry.mode), oid: entry.oid };
}
