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
 * Maximum bytes of trees on the current path that stay in memory. Outer ones are read again when the walk returns to
 * them.
 */
const HELD_BYTES = 8 << 20;
const NO_BODY = Buffer.alloc(0);
/** Bytes of a scanner without its tree. */
const SCANNER_BYTES = 256;

export interface WalkOptions {
  /** True to find folders too, before their content. */
  readonly trees?: boolean;
  /** `false` to not enter folders. */
  readonly recursive?: boolean;
  /** Path of `tree`; undefined for the root. */
  readonly under?: ByteString | undefined;
  /** Files to find; all if undefined. A folder without selected files is not entered. */
  readonly selects?: PathMatcher | undefined;
}

/**
 * Walks the files, symbolic links and gitlinks of a tree in the order of Git's index:
 *
 *     while (walk.step()) {
 *       meter.spend(walk.cost);
 *       if (meter.shouldYield) await meter.yieldToEventLoop();
 *       if (walk.isFound) …
 *     }
 *
 * A step is a bounded piece of work, which usually finds one entry. Trees may have any depth: a level takes only a few
 * numbers, and paths are built on demand.
 */
export class TreeWalk {
  /** True if the last step found an entry, which the members below describe. */
  isFound = false;
  /** Work units of the last step, without those of reading trees, which are reported separately. */
  cost = 0;
  mode = 0;
  readonly #steps: Steps<void>;
  readonly #stack: PathStack;
  readonly #trees: boolean;
  readonly #recursive: boolean;
  #scan: TreeCursor;
  // The following arrays are by level.
  readonly #scans: (TreeCursor | undefined)[];
  /** Position at which the scan of a level continues. */
  readonly #positions: number[] = [0];
  readonly #numbers: number[];
  readonly #serials: number[] = [0];
  #serial = 0;
  /** Bytes of all scans, and the first level that has one. */
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

  /** Does one piece of work. Returns false at the end. */
  step(): boolean {
    this.isFound = false;
    const step = this.#steps.next();
    this.cost = step.value ?? 0;
    return !step.done;
  }

  /** Number of folders between the tree and the current position. */
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

  /** Returns the path of a folder that the walk is in, with its slash. Level 0 is the tree. */
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

  /** Returns a number that distinguishes the current folder of a level from others of the same level. */
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
