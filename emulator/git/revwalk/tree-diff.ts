import { IntList } from '../../memory/int-list.js';
import { COST } from '../../schedule/cost.js';
import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import type { LinkReader } from '../object/link-reader.js';
import { NONE } from '../object/tree-cursor.js';
import { objectAt, type TreeEntries } from '../object/tree-entries.js';
import { TreeMergeJoin } from '../object/tree-merge-join.js';
import { type PathId, type PathTable, ROOT } from './path-table.js';

/**
 * Differences between two trees: the changed paths, and the trees and blobs that were added or removed at these paths.
 * Equal subtrees are not read, so the cost is proportional to the size of the folders that differ.
 */
export class TreeDiff {
  /** Path numbers of the files, symbolic links and gitlinks (submodules) that were added, removed or changed. */
  readonly changed = new IntList();
  /**
   * Trees and blobs whose path was added or changed, as pairs of object numbers. The first number of a pair is the
   * object in the new tree. The second is the object at this path in the old tree, or `NONE`.
   */
  readonly added = new IntList();
  /** Object numbers of the trees and blobs in the old tree whose path was removed or changed. */
  readonly removed = new IntList();
  /**
   * Stack of folders that must still be compared. Each folder takes three numbers: its old tree, its new tree, and its
   * path number.
   */
  readonly #folders = new IntList();

  constructor(
    readonly objects: LinkReader,
    readonly paths: PathTable,
  ) {}

  /**
   * Compares two trees and stores the differences in the lists of this object. `before` and `after` are the object
   * numbers of the trees; `NONE` for an empty tree. `enter` gets the path number of a folder and returns false if the
   * folder must be skipped.
   */
  *compare(before: number, after: number, enter?: (folder: PathId) => boolean): Steps<void> {
    this.changed.clear();
    this.added.clear();
    this.removed.clear();
    const folders = this.#folders;
    folders.clear();
    this.#take(before, after, ROOT);
    let work = 0;
    while (folders.length > 0) {
      const folder = folders.pop();
      const newTree = folders.pop();
      const oldTree = folders.pop();
      if (enter && !enter(folder)) continue;
      const size = this.changed.length;
      yield* this.#compareFolder(oldTree, newTree, folder);
      work += 8 + this.changed.length - size;
      if (work > PIECE) {
        yield work * COST.operation;
        work = 0;
      }
    }
  }

  *#compareFolder(oldTree: number, newTree: number, folder: PathId): Steps<void> {
    const before = oldTree === NONE ? undefined : yield* this.objects.entriesOf(oldTree);
    const after = newTree === NONE ? undefined : yield* this.objects.entriesOf(newTree);
    const pair = new TreeMergeJoin(before, after);
    for (let work = 1; pair.next(); work++) {
      if (work % PIECE === 0) yield PIECE_COST;
      if (pair.order < 0) this.#takeOne(before!, pair.before, folder, true);
      else if (pair.order > 0) this.#takeOne(after!, pair.after, folder, false);
      else this.#takeBoth(pair, folder);
    }
    yield (pair.compared + 1) * COST.operation;
  }

  #takeOne(entries: TreeEntries, index: number, folder: PathId, isOld: boolean): void {
    const path = this.paths.inside(folder, entries.nameAt(index));
    const isTree = entries.isTreeAt(index);
    if (!isTree) this.changed.push(path);
    if (entries.isGitlinkAt(index)) return;
    const number = objectAt(entries, index);
    if (isTree) this.#take(isOld ? number : NONE, isOld ? NONE : number, path);
    else if (isOld) this.removed.push(number);
    else this.#addPair(number, NONE);
  }

  /**
   * Compares the two entries of a name that both folders contain. Both entries are trees, or neither is. Git sorts a
   * folder differently from a file with its name, so a file and a folder are never compared here.
   */
  #takeBoth({ before, after, left, right }: TreeMergeJoin, folder: PathId): void {
    const isLink = left!.isGitlinkAt(before);
    const isSame = left!.objectAt(before) === right!.objectAt(after) && isLink === right!.isGitlinkAt(after);
    if (isSame && left!.modeAt(before) === right!.modeAt(after)) return;
    const path = this.paths.inside(folder, right!.nameAt(after));
    if (right!.isTreeAt(after)) {
      const old = objectAt(left!, before);
      this.#take(old, objectAt(right!, after), path);
      return;
    }
    this.changed.push(path);
    if (isSame) return;
    const old = isLink ? NONE : objectAt(left!, before);
    if (old !== NONE) this.removed.push(old);
    if (!right!.isGitlinkAt(after)) this.#addPair(objectAt(right!, after), old);
  }

  #take(oldTree: number, newTree: number, path: PathId): void {
    if (oldTree === newTree) return;
    if (oldTree !== NONE) this.removed.push(oldTree);
    if (newTree !== NONE) this.#addPair(newTree, oldTree);
    this.#folders.push(oldTree);
    this.#folders.push(newTree);
    this.#folders.push(path);
  }

  #addPair(number: number, previous: number): void {
    this.added.push(number);
    this.added.push(previous);
  }
}
