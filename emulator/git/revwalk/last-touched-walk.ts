import { IntList } from '../../memory/int-list.js';
import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import type { CommitGraph, GraphPosition } from './commit-graph.js';
import type { HistoryIndex } from './history-index.js';
import type { PathId } from './path-table.js';
import { TreeDiff } from './tree-diff.js';

/**
 * Finds the commit that last changed each of many paths that exist in a given commit. The paths are files, or entries
 * of one folder. A subfolder is changed by a commit that changes any file in it.
 *
 * The log of a single path is a linear walk. From each commit, the walk continues to the first parent that has an equal
 * version of the path. It ends at a commit without such a parent, because this commit changed the path.
 *
 * Paths whose walks are at one commit form a group, which walks as a unit. A group is split at a merge if its paths
 * continue to different parents. Groups that reach one commit are joined (union-find). The cost of a step is
 * proportional to the number of paths that the commit changed, not to the size of the group.
 */
export class LastTouchedWalk {
  /**
   * Group to which each path belongs, by path number; 0 if the path is not being walked. This group may have been
   * merged into another one; `#find` returns the group after all merges.
   */
  readonly #groupOf: Int32Array;
  /**
   * Result of the walk, by path number. It is the position of the commit that last changed the path; -1 if not found
   * yet.
   */
  readonly #touchedAt: Int32Array;
  /** Group whose walk has reached each commit, by position of the commit; 0 if none. */
  readonly #groupAt: Int32Array;
  // Arrays by group number. `#mergedInto` is the group into which the group was merged, or the group itself if it was
  // not merged. `#sizeOf` is the number of its paths.
  readonly #mergedInto = new IntList();
  readonly #sizeOf: number[] = [];
  #underWay = 0;

  /**
   * `entryOf` is needed if some of `paths` are subfolders. It returns the path of the subfolder that contains a changed
   * file, or the path of the file itself; -1 if none.
   */
  constructor(
    readonly graph: CommitGraph,
    readonly index: HistoryIndex,
    readonly tip: GraphPosition,
    paths: Iterable<PathId>,
    readonly entryOf?: (path: PathId) => PathId,
  ) {
    this.#groupOf = new Int32Array(index.paths.size);
    this.#touchedAt = new Int32Array(index.paths.size).fill(-1);
    this.#groupAt = new Int32Array(tip + 1);
    this.#newGroup();
    const all = this.#newGroup();
    for (const path of paths) {
      this.#groupOf[path] = all;
      this.#underWay++;
    }
    this.#sizeOf[all] = this.#underWay;
    this.#groupAt[tip] = all;
  }

  /**
   * Walks the history. Returns the position of the commit that last changed each path, by path number; -1 for a
   * subfolder that never contained a file.
   */
  *run(): Steps<Int32Array> {
    const { graph, index } = this;
    for (let position = this.tip; this.#underWay > 0 && position >= 0; position--) {
      if (position % PIECE === 0) yield PIECE_COST;
      const group = this.#find(this.#groupAt[position]!);
      if (group === 0 || this.#sizeOf[group] === 0) continue;
      yield* index.coverOne(position);
      const changed = this.#changedIn(group, index.changedBy(position));
      if (changed.length > 0) yield* this.#settle(position, changed);
      const parent = graph.parentOf(position, 0);
      if (parent >= 0) this.#join(group, parent);
    }
    return this.#touchedAt;
  }

  #changedIn(group: number, changed: Int32Array): PathId[] {
    const found: PathId[] = [];
    const { entryOf } = this;
    const paths = entryOf === undefined ? changed : new Set(changed.map((path) => entryOf(path)));
    for (const path of paths) {
      if (path >= 0 && path < this.#groupOf.length && this.#find(this.#groupOf[path]!) === group) found.push(path);
    }
    return found;
  }

  /**
   * Handles the paths of a group that differ between a commit and its first parent. If another parent has an equal
   * version of a path, the walk of the path continues at this parent. Otherwise the walk ends, because the commit
   * changed the path.
   */
  *#settle(position: GraphPosition, changed: PathId[]): Steps<void> {
    const { graph } = this;
    let left = changed;
    for (let nth = 1; nth < graph.parentCount(position) && left.length > 0; nth++) {
      const parent = graph.parentOf(position, nth);
      const differing = yield* this.#differing(parent, position, left);
      yield 1;
      const same = left.filter((path) => !differing.has(path));
      if (same.length === 0) continue;
      left = left.filter((path) => differing.has(path));
      this.#split(same, parent);
    }
    for (const path of left) {
      this.#leave(path);
      this.#touchedAt[path] = position;
    }
  }

  /**
   * Returns the numbers of the paths that differ between a commit and one of its parents. Only folders that contain
   * `paths` are compared. The result may therefore contain other paths in these folders. A subfolder in `paths` is not
   * read, because the ids of its trees tell whether it differs.
   */
  *#differing(parent: GraphPosition, position: GraphPosition, paths: readonly PathId[]): Steps<Set<PathId>> {
    const { graph, index } = this;
    const folders = new Set<PathId>();
    for (const path of paths) {
      for (let folder = index.paths.folderOf(path); folder >= 0 && !folders.has(folder); ) {
        folders.add(folder);
        folder = index.paths.folderOf(folder);
      }
    }
    const diff = new TreeDiff(graph.objects, index.paths);
    const differing = new Set<PathId>();
    yield* diff.compare(graph.treeOf(parent), graph.treeOf(position), (folder) => {
      differing.add(folder);
      return folders.has(folder);
    });
    for (const path of diff.changed.view()) differing.add(path);
    return differing;
  }

  #newGroup(): number {
    const group = this.#mergedInto.length;
    this.#mergedInto.push(group);
    this.#sizeOf.push(0);
    return group;
  }

  /**
   * Returns the group into which `group` was merged, directly or through other groups. Returns `group` itself if it was
   * not merged. This is the find operation of union-find, with path compression.
   */
  #find(group: number): number {
    let top = group;
    while (this.#mergedInto.at(top) !== top) top = this.#mergedInto.at(top);
    for (let at = group; at !== top; ) {
      const next = this.#mergedInto.at(at);
      this.#mergedInto.set(at, top);
      at = next;
    }
    return top;
  }

  #leave(path: PathId): void {
    const group = this.#find(this.#groupOf[path]!);
    if (group === 0) return;
    this.#groupOf[path] = 0;
    this.#sizeOf[group]!--;
    this.#underWay--;
  }

  #split(paths: readonly PathId[], to: GraphPosition): void {
    const group = this.#newGroup();
    for (const path of paths) {
      this.#leave(path);
      this.#groupOf[path] = group;
      this.#sizeOf[group]!++;
      this.#underWay++;
    }
    this.#join(group, to);
  }

  /**
   * Moves the walk of a group to the commit at `position`. If another group has already reached this commit, the
   * smaller group is merged into the larger one.
   */
  #join(group: number, position: GraphPosition): void {
    const there = this.#find(this.#groupAt[position]!);
    const [large, small] = this.#sizeOf[there]! > this.#sizeOf[group]! ? [there, group] : [group, there];
    if (small !== 0 && small !== large) {
      this.#mergedInto.set(small, large);
      this.#sizeOf[large]! += this.#sizeOf[small]!;
    }
    this.#groupAt[position] = large;
  }
}
