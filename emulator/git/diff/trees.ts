import { COST } from '../../schedule/cost.js';
import { PIECE, type Steps } from '../../schedule/steps.js';
import { requestLimit } from '../limits/request-limits.js';
import { type ByteString, concatBytes, NO_BYTES, SLASH } from '../object/bytes.js';
import type { LinkReader } from '../object/link-reader.js';
import { EMPTY_TREE_OID, MissingObject, type Oid, TREE } from '../object/object.js';
import type { PathEntry } from '../object/tree.js';
import { NONE } from '../object/tree-cursor.js';
import { entryOid, objectAt, type TreeEntries } from '../object/tree-entries.js';
import { TreeMergeJoin } from '../object/tree-merge-join.js';
import type { PathFilter } from './path-filter.js';

/**
 * Path at which two trees differ. With only `after`, the path was added. With only `before`, it was deleted. With both,
 * it was modified.
 */
export interface TreeChange {
  readonly before?: PathEntry;
  readonly after?: PathEntry;
}

export interface TreeDiffOptions {
  readonly paths?: PathFilter | undefined;
  /** If true, also reports files that are equal in both trees. All folders must then be read. */
  readonly withUnchanged?: boolean | undefined;
  /**
   * Maximum number of files and folders that are visited. `TooManyChanges` is thrown if there are more. The limit is
   * necessary, because a few objects can describe an enormous tree.
   */
  readonly limit?: number | undefined;
}

/** Error thrown if a diff must visit more files and folders than its limit allows. */
export class TooManyChanges extends Error {
  override readonly name = 'TooManyChanges';
  constructor(readonly limit: number) {
    super(`the trees differ in more than ${limit} entries`);
  }
}

interface Folder {
  readonly pair: TreeMergeJoin;
  /** Path of the folder with a final slash; empty for the root. */
  readonly base: ByteString;
  /** True if the filter includes everything below the folder. The filter need not be asked about paths in it. */
  readonly isWanted: boolean;
}

/**
 * Yields the files, symbolic links and submodules that differ between two trees, ordered by path. `before` and `after`
 * are the object ids of the trees; undefined means an empty tree.
 *
 * Numbers are yielded between the changes. They are work units (microseconds of CPU time) that the caller must report
 * to its meter. Folders that are equal in both trees are not opened. Folders can be nested to any depth.
 */
export function* diffTreeEntries(
  objects: LinkReader,
  before: Oid | undefined,
  after: Oid | undefined,
  options: TreeDiffOptions = {},
): Generator<TreeChange | number, void, void> {
  const { paths, withUnchanged = false, limit = requestLimit('diffEntries') } = options;
  if (before === after && !withUnchanged) return;
  const open = function* (before: number, after: number): Steps<TreeMergeJoin> {
    const [left, right] = [yield* entriesOf(objects, before), yield* entriesOf(objects, after)];
    return new TreeMergeJoin(left, right, withUnchanged);
  };
  const [first, second] = [before, after].map((oid) => (oid === undefined ? NONE : treeNumber(objects, oid)));
  let seen = 0;
  const stack: Folder[] = [{ pair: yield* open(first!, second!), base: NO_BYTES, isWanted: paths === undefined }];
  for (let folder = stack.at(-1); folder !== undefined; folder = stack.at(-1)) {
    const { pair, base } = folder;
    if (!pair.next()) {
      stack.pop();
      continue;
    }
    if (pair.isSame && !withUnchanged) continue;
    if (++seen > limit) throw new TooManyChanges(limit);
    if (seen % PIECE === 0) yield PIECE * (COST.entry + COST.name);
    const { order } = pair;
    const [entries, index] = order > 0 ? [pair.right!, pair.after] : [pair.left!, pair.before];
    const path = concatBytes(base, entries.nameAt(index));
    const isWanted = folder.isWanted || paths!.covers(path);
    if (entries.isTreeAt(index)) {
      if (!isWanted && !paths!.leadsInto(path)) continue;
      const inner = yield* open(
        order <= 0 ? objectAt(pair.left!, pair.before) : NONE,
        order >= 0 ? objectAt(pair.right!, pair.after) : NONE,
      );
      stack.push({ pair: inner, base: concatBytes(path, SLASH), isWanted });
    } else if (isWanted) {
      if (order > 0) yield { after: pathEntry(objects, pair.right!, pair.after, path) };
      else {
        const before = pathEntry(objects, pair.left!, pair.before, path);
        yield order < 0 ? { before } : { before, after: pathEntry(objects, pair.right!, pair.after, path) };
      }
    }
  }
}

/**
 * Returns the number of a tree in the object store (index into its tables). Returns `NONE` for the empty tree if it is
 * not stored. Throws `MissingObject` if the id is unknown or does not belong to a tree.
 */
function treeNumber(objects: LinkReader, oid: Oid): number {
  const number = objects.find(oid);
  if (number < 0 && oid === EMPTY_TREE_OID) return NONE;
  if (number < 0 || objects.typeOf(number) !== TREE) throw new MissingObject(oid, 'tree');
  return number;
}

function* entriesOf(objects: LinkReader, tree: number): Steps<TreeEntries | undefined> {
  return tree === NONE ? undefined : yield* objects.entriesOf(tree);
}

function pathEntry(objects: LinkReader, entries: TreeEntries, index: number, path: ByteString): PathEntry {
  return { path, mode: entries.modeAt(index), oid: entryOid(objects, entries, index) };
}
