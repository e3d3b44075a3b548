import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { type ByteString, concatBytes, NO_BYTES, SLASH } from '../object/bytes.js';
import { EMPTY_TREE_OID, type ObjectReader, type Oid } from '../object/object.js';
import { readTreeBody } from '../object/read-tree.js';
import { canonicalMode, MODE_TREE } from '../object/tree.js';
import { TreeCursor } from '../object/tree-cursor.js';
import type { PathMatcher } from './path-matcher.js';
import { PathStack } from './path-stack.js';

/**
 * Maximum total size in bytes of the tree objects that a walk keeps in memory. It keeps those of the innermost folders
 * on the current path. Tree objects of folders further out are read again when the walk returns to them.
 */
const HELD_BYTES = 8 << 20;
const NO_BODY = Buffer.alloc(0);
/** Approximate memory in bytes of a `TreeCursor` (position in a tree object), not counting the tree object itself. */
const SCANNER_BYTES = 256;

export interface WalkOptions {
  /**
   * If true, folders are reported too, each before its content. By default, only files, symbolic links and submodules
   * are reported.
   */
  readonly trees?: boolean;
  /** If true (the default), subfolders are walked too. */
  readonly recursive?: boolean;
  /** Path of the walked tree, with which all reported paths begin. Undefined for the root. */
  readonly under?: ByteString | undefined;
  /**
   * Matcher that selects the files to report; undefined for all files. Folders in which it can select no file are not
   * entered.
   */
  readonly selects?: PathMatcher | undefined;
}

/**
 * Walks the files, symbolic links and gitlinks (submodules) of a tree in the order of Git's index:
 *
 *     while (walk.step()) {
 *       meter.spend(walk.cost);
 *       if (meter.shouldYield) await meter.yieldToEventLoop();
 *       if (walk.isFound) …
 *     }
 *
 * A step is a bounded piece of work, which usually finds one entry. Trees may have any depth. Each folder on the
 * current path takes only a few numbers, and paths are built on demand.
 */
export class TreeWalk {
  /** True if the last call of `step` found an entry. `mode`, `name`, `oid` and `path` then describe this entry. */
  isFound = false;
  /**
   * Cost of the last step in work units (microseconds of CPU time). The cost of reading trees is not included, because
   * the object reader reports it.
   */
  cost = 0;
  mode = 0;
  readonly #steps: Steps<void>;
  readonly #stack: PathStack;
  readonly #trees: boolean;
  readonly #recursive: boolean;
  #scan: TreeCursor;
  // The following arrays have one item per folder on the current path, indexed by depth.
  readonly #scans: (TreeCursor | undefined)[];
  /** Position in each folder's tree object, in bytes, at which the walk continues. */
  readonly #positions: number[] = [0];
  readonly #numbers: number[];
  readonly #serials: number[] = [0];
  #serial = 0;
  /**
   * Cursors in memory. `#held` is the memory in bytes of all cursors in `#scans`, which is limited. `#firstHeld` is the
   * smallest depth whose cursor is in memory.
   */
  #held = 0;
  #firstHeld = 0;

  constructor(
    private readonly objects: ObjectReader,
    tree: Oid,
    { trees = false, recursive = true, under = NO_BYTES, selects }: WalkOptions = {},
  ) {
    this.#trees = trees;
    this.#recursive = recursive;
    this.#stack = new PathStack(under === '' || under.endsWith('/') ? under : concatBytes(under, SLASH), selects);
    this.#scan = new TreeCursor(NO_BODY);
    this.#scans = [this.#scan];
    this.#numbers = [objects.find(tree)];
    this.#steps = this.#walk(tree);
  }

  /**
   * Does one bounded piece of work. Afterwards, `isFound` and `cost` are valid. Returns false at the end of the walk.
   */
  step(): boolean {
    this.isFound = false;
    const step = this.#steps.next();
    this.cost = step.value ?? 0;
    return !step.done;
  }

  /** Number of folders between the root of the walk and the current entry. 0 for an entry directly in the root. */
  get depth(): number {
    return this.#stack.depth;
  }

  get name(): ByteString {
    return this.#scan.name;
  }

  get oid(): Oid {
    return this.#scan.oid;
  }

  get path(): ByteString {
    return this.#stack.pathOf(this.name);
  }

  /**
   * Returns the path of the folder at depth `level` on the current path, with its final slash. Level 0 is the root of
   * the walk.
   */
  folder(level: number): ByteString {
    return this.#stack.folder(level);
  }

  folderName(level: number): ByteString {
    return this.#stack.folderName(level);
  }

  folderOid(level: number): Oid {
    const number = this.#numbers[level]!;
    return number < 0 ? EMPTY_TREE_OID : this.objects.oidOf(number);
  }

  /**
   * Returns the serial number of the folder at depth `level` on the current path. Each folder gets a new number when
   * the walk enters it, so a changed number tells the caller that the walk is in another folder.
   */
  folderSerial(level: number): number {
    return this.#serials[level]!;
  }

  *#walk(tree: Oid): Steps<void> {
    const stack = this.#stack;
    const { matcher } = stack;
    this.#scan = new TreeCursor(yield* readTreeBody(this.objects, tree));
    this.#scans[0] = this.#scan;
    if (stack.isDead) return;
    for (;;) {
      const scan = this.#scan;
      if (!scan.next()) {
        if (stack.depth === 0) return;
        yield* stack.leaveTo(stack.depth - 1);
        yield* this.#leave();
      } else {
        this.mode = canonicalMode(scan.mode);
        const { body, nameStart, nameEnd } = scan;
        if (this.mode !== MODE_TREE) {
          this.isFound =
            stack.accepts(body, nameStart, nameEnd) ?? (yield* stack.acceptsLong(body, nameStart, nameEnd));
        } else {
          this.isFound = this.#trees;
          if (this.isFound) yield COST.entry;
          if (this.#recursive && (yield* stack.enter(body, nameStart, nameEnd))) yield* this.#enter();
        }
      }
      yield COST.entry + (matcher?.takeSpent() ?? 0);
    }
  }

  *#enter(): Steps<void> {
    const { objects } = this;
    const { oid, position } = this.#scan;
    this.#positions[this.#positions.length - 1] = position;
    this.#scan = new TreeCursor(yield* readTreeBody(objects, oid));
    this.#scans.push(this.#scan);
    this.#positions.push(0);
    this.#numbers.push(objects.find(oid));
    this.#serials.push(++this.#serial);
    this.#held += SCANNER_BYTES + this.#scan.body.length;
    for (; this.#held > HELD_BYTES && this.#firstHeld < this.#stack.depth; this.#firstHeld++) {
      this.#held -= SCANNER_BYTES + this.#scans[this.#firstHeld]!.body.length;
      this.#scans[this.#firstHeld] = undefined;
    }
  }

  *#leave(): Steps<void> {
    this.#held -= SCANNER_BYTES + this.#scan.body.length;
    this.#scans.pop();
    this.#positions.pop();
    this.#numbers.pop();
    this.#serials.pop();
    const { depth } = this.#stack;
    const number = this.#numbers[depth]!;
    let scan = this.#scans[depth];
    if (scan === undefined) {
      scan = new TreeCursor(number < 0 ? NO_BODY : yield* this.objects.readSteps(number), this.#positions[depth]);
      this.#scans[depth] = scan;
      this.#firstHeld = depth;
      this.#held += SCANNER_BYTES + scan.body.length;
    }
    this.#scan = scan;
  }
}
