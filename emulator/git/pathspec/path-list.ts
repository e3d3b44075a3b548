import { COST } from '../../schedule/cost.js';
import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import { type ByteString, NO_BYTES } from '../object/bytes.js';
import type { PathMatcher } from './path-matcher.js';
import { PathStack } from './path-stack.js';
import type { TreeWalk } from './tree-walk.js';

/** The paths a walk found, in its order: by folder and name, since all paths of a deep tree would be its square. */
export class PathList {
  /** By folder; the first one is where the walk began. */
  readonly parents: number[] = [];
  readonly depths: number[] = [];
  readonly folderNames: ByteString[] = [];
  /** By path. */
  readonly folders: number[] = [];
  readonly names: ByteString[] = [];
  /** Bytes of all names. */
  nameBytes = 0;
  /** What is put before every path. */
  base = NO_BYTES;
  /** By level: the folders the walk is in, and how it tells them from others. */
  readonly #open: number[] = [];
  readonly #serials: number[] = [];

  get length(): number {
    return this.names.length;
  }

  /** Adds what the walk has found; it has to be the same walk always. */
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

/** A place in a list. Moving on to the next path costs what it has that the last one had not. */
export class PathCursor {
  readonly #stack: PathStack;
  /** By level: the folders on the stack. */
  readonly #folders: number[] = [0];
  /** Folders where nothing is chosen: these numbers from the first to before the second. */
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

  /** Moves to a path of the folder that the cursor is in. Whether it is chosen; undefined where that takes steps. */
  tryMoveTo(index: number): boolean | undefined {
    const folder = this.list.folders[index]!;
    this.#index = index;
    if (this.#isDead(folder)) return false;
    if (this.#folders.at(-1) !== folder) return undefined;
    if (this.#stack.matcher === undefined) return true;
    const name = this.list.names[index]!;
    return this.#stack.accepts(this.#bytesOf(name), 0, name.length);
  }

  /** Moves to a path. Whether it is chosen. */
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

  /** The path moved to, where it is chosen. */
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

  /** Nothing is chosen in the folder, nor in those inside it, whose numbers follow. */
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
