import { COST } from '../../schedule/cost.js';
import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import { type ByteString, NO_BYTES } from '../object/bytes.js';
import type { PathMatcher } from './path-matcher.js';
import { PathStack } from './path-stack.js';
import type { TreeWalk } from './tree-walk.js';

/**
 * Paths found by a tree walk, in the order of the walk. Folders and names are stored separately, because whole paths
 * would take memory quadratic in the depth of the tree.
 */
export class PathList {
  /**
   * Arrays indexed by folder number: parent folder, depth and name of each folder. Folder 0 is the root of the walk.
   */
  readonly parents: number[] = [];
  readonly depths: number[] = [];
  readonly folderNames: ByteString[] = [];
  /** Arrays indexed by path number: folder number and last name of each path. */
  readonly folders: number[] = [];
  readonly names: ByteString[] = [];
  /** Total length in bytes of all file and folder names in the list. */
  nameBytes = 0;
  /** Path of the root of the walk. All paths of the list begin with it. */
  base = NO_BYTES;
  /**
   * Arrays indexed by depth, for the folders that contain the last added path. `#open` has their numbers in this list,
   * `#serials` the serial numbers from the walk.
   */
  readonly #open: number[] = [];
  readonly #serials: number[] = [];

  get length(): number {
    return this.names.length;
  }

  /**
   * Adds the current path of the walk. All calls must use one walk, because folders are recognized by the serial
   * numbers that the walk gave them.
   */
  add(walk: TreeWalk): void {
    const { depth } = walk;
    let same = Math.min(this.#open.length, depth + 1);
    while (same > 0 && this.#serials[same - 1] !== walk.folderSerial(same - 1)) same--;
    this.#open.length = same;
    this.#serials.length = same;
    for (let level = same; level <= depth; level++) {
      if (level === 0) this.base = walk.folder(0);
      this.#serials.push(walk.folderSerial(level));
      this.#open.push(this.parents.length);
      this.parents.push(level === 0 ? -1 : this.#open[level - 1]!);
      this.folderNames.push(level === 0 ? NO_BYTES : walk.folderName(level));
      this.depths.push(level);
      this.nameBytes += this.folderNames.at(-1)!.length;
    }
    this.folders.push(this.#open[depth]!);
    this.names.push(walk.name);
    this.nameBytes += walk.name.length;
  }
}

/**
 * Cursor that moves through a `PathList` and tests the paths with a matcher. The cost of a move depends only on the
 * folders in which the new path differs from the previous one.
 */
export class PathCursor {
  readonly #stack: PathStack;
  /** Numbers of the folders that contain the current path, indexed by depth. */
  readonly #folders: number[] = [0];
  /**
   * Range of folder numbers in which no file is selected, from `#dead` to `#deadEnd` (exclusive). Only the last range
   * found is stored; both are -1 if none was found yet.
   */
  #dead = -1;
  #deadEnd = -1;
  #index = -1;
  #name = Buffer.alloc(256);

  constructor(
    readonly list: PathList,
    matcher?: PathMatcher | undefined,
  ) {
    this.#stack = new PathStack(list.base, matcher);
    if (this.#stack.isDead) [this.#dead, this.#deadEnd] = [0, list.parents.length];
  }

  /**
   * Moves the cursor to the path with number `index`, if this path is in the current folder. Returns true if the
   * matcher selects the path, otherwise false.
   *
   * Returns undefined if the path is in another folder or its name is long. The caller must then call `moveTo`.
   */
  tryMoveTo(index: number): boolean | undefined {
    const folder = this.list.folders[index]!;
    this.#index = index;
    if (this.#isDead(folder)) return false;
    if (this.#folders.at(-1) !== folder) return undefined;
    if (this.#stack.matcher === undefined) return true;
    const name = this.list.names[index]!;
    return this.#stack.accepts(this.#bytesOf(name), 0, name.length);
  }

  /** Moves the cursor to the path with number `index`. Returns true if the matcher selects the path. */
  *moveTo(index: number): Steps<boolean> {
    const { list } = this;
    const { matcher } = this.#stack;
    const folder = list.folders[index]!;
    this.#index = index;
    if (this.#isDead(folder)) return false;
    if (this.#folders.at(-1) !== folder && !(yield* this.#goTo(folder))) return false;
    const chosen = matcher === undefined || (yield* this.#isChosen(list.names[index]!));
    yield matcher?.takeSpent() ?? 0;
    return chosen;
  }

  /** Path of the last move. Valid only if the matcher selects this path. */
  get path(): ByteString {
    return this.#stack.pathOf(this.list.names[this.#index]!);
  }

  *#goTo(folder: number): Steps<boolean> {
    const { parents, depths, folderNames } = this.list;
    const missing: number[] = [];
    let known = folder;
    for (; this.#folders[depths[known]!] !== known; known = parents[known]!) {
      missing.push(known);
      if (missing.length % PIECE === 0) yield PIECE_COST;
    }
    const level = depths[known]!;
    if (level < this.#stack.depth) {
      this.#folders.length = level + 1;
      yield* this.#stack.leaveTo(level);
    }
    for (let next = missing.pop(); next !== undefined; next = missing.pop()) {
      const name = folderNames[next]!;
      const bytes = this.#bytesOf(name);
      if (!(yield* this.#stack.enter(bytes, 0, name.length))) {
        yield* this.#giveUp(next);
        return false;
      }
      this.#folders.push(next);
      yield COST.operation + (this.#stack.matcher?.takeSpent() ?? 0);
    }
    return true;
  }

  /**
   * Records that no file is selected in a folder and its subfolders. They form one range, because the numbers of the
   * subfolders directly follow that of the folder.
   */
  *#giveUp(folder: number): Steps<void> {
    const { depths } = this.list;
    let end = folder + 1;
    for (; end < depths.length && depths[end]! > depths[folder]!; end++) if (end % PIECE === 0) yield PIECE_COST;
    [this.#dead, this.#deadEnd] = [folder, end];
  }

  #isDead(folder: number): boolean {
    return folder >= this.#dead && folder < this.#deadEnd;
  }

  *#isChosen(name: ByteString): Steps<boolean> {
    const bytes = this.#bytesOf(name);
    return this.#stack.accepts(bytes, 0, name.length) ?? (yield* this.#stack.acceptsLong(bytes, 0, name.length));
  }

  #bytesOf(name: ByteString): Buffer {
    if (name.length > this.#name.length) this.#name = Buffer.alloc(name.length * 2);
    this.#name.write(name, 'latin1');
    return this.#name;
  }
}
