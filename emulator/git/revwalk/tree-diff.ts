import type { ObjectReader } from '../object/object.js';
import { canonicalMode } from '../object/tree.js';
import { NONE, TreeCursor } from '../object/tree-cursor.js';
import { TreePair } from '../object/tree-pair.js';
import { COST } from '../schedule/cost.js';
import { PIECE, PIECE_COST, type Steps } from '../schedule/steps.js';
import { IntList } from './int-list.js';
import { type PathId, type PathTable, ROOT } from './path-table.js';

const EMPTY = Buffer.alloc(0);

/**
 * What two trees do not share: the paths that changed, and the objects on either side.
 * Equal subtrees are not entered, so it costs the folders that differ, not the trees.
 */
export class TreeDiff {
  /** Files, links and gitlinks that were added, removed or changed. */
  readonly changed = new IntList();
  /** Trees and blobs of the new side, each followed by what was at its path before, or `NONE`. */
  readonly added = new IntList();
  /** Trees and blobs of the old side. */
  readonly removed = new IntList();
  /** Folders to compare: old tree, new tree, path. */
  readonly #folders = new IntList();

  constructor(
    readonly objects: ObjectReader,
    readonly paths: PathTable,
  ) {}

  /** Compares two trees by object number; `NONE` is the empty tree. `enter` may keep it out of folders. */
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
    const pair = new TreePair(this.#bodyOf(oldTree), this.#bodyOf(newTree));
    for (let work = 1; pair.next(); work++) {
      if (work % PIECE === 0) yield PIECE_COST;
      if (pair.order < 0) this.#takeOne(pair.before, folder, true);
      else if (pair.order > 0) this.#takeOne(pair.after, folder, false);
      else this.#takeBoth(pair.before, pair.after, folder);
    }
  }

  #takeOne(entry: TreeCursor, folder: PathId, isOld: boolean): void {
    const path = this.paths.inside(folder, entry.name);
    if (!entry.isTree) this.changed.push(path);
    if (entry.isGitlink) return;
    const number = entry.object(this.objects);
    if (entry.isTree) this.#take(isOld ? number : NONE, isOld ? NONE : number, path);
    else if (isOld) this.removed.push(number);
    else this.#addPair(number, NONE);
  }

  /** Entries of one name, both trees or both not: Git's order tells a file from a folder of its name. */
  #takeBoth(before: TreeCursor, after: TreeCursor, folder: PathId): void {
    const isSame = TreeCursor.isSameId(before, after);
    if (isSame && canonicalMode(before.mode) === canonicalMode(after.mode)) return;
    const path = this.paths.inside(folder, after.name);
    if (after.isTree) {
      this.#take(before.object(this.objects), after.object(this.objects), path);
      return;
    }
    this.changed.push(path);
    if (isSame) return;
    const old = before.isGitlink ? NONE : before.object(this.objects);
    if (old !== NONE) this.removed.push(old);
    if (!after.isGitlink) this.#addPair(after.object(this.objects), old);
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

  #bodyOf(tree: number): Buffer {
    return tree === NONE ? EMPTY : this.objects.read(tree);
  }
}
