import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { type ByteString, concatBytes, NO_BYTES, SLASH } from '../object/bytes.js';
import { EMPTY_TREE_OID, type ObjectReader, type Oid } from '../object/object.js';
import { readTreeBody } from '../object/read-tree.js';
import { canonicalMode, MODE_TREE } from '../object/tree.js';
import { TreeCursor } from '../object/tree-cursor.js';
import type { PathMatcher } from './path-matcher.js';
import { PathStack } from './path-stack.js';

/** Bytes of trees on the way that stay at hand; those further up are read again when the walk comes back to them. */
const HELD_BYTES = 8 << 20;
const NO_BODY = Buffer.alloc(0);
/** What a tree takes beside its bytes. */
const SCANNER_BYTES = 256;

export interface WalkOptions {
  /** Folders are found too, before what they hold. */
  readonly trees?: boolean;
  /** `false`: folders are not entered. */
  readonly recursive?: boolean;
  /** The folder that `tree` is, by its path. */
  readonly under?: ByteString | undefined;
  /** Only files that it chooses are found, and a folder without any is not entered. */
  readonly selects?: PathMatcher | undefined;
}

/**
 * The files, links and gitlinks below a tree, in the order of Git's index:
 *
 *     while (walk.step()) {
 *       meter.spend(walk.cost);
 *       if (meter.shouldYield) await meter.yieldToEventLoop();
 *       if (walk.isFound) …
 *     }
 *
 * A step is a bounded piece of work, which mostly finds one entry. Trees may be any depth: of a level only some numbers
 * are kept, and a path is made when it is asked for.
 */
export class TreeWalk {
  /** Whether the last step found an entry, which the members below describe. */
  isFound = false;
  /** Units of the last step; what reading trees costs is reported by itself. */
  cost = 0;
  mode = 0;
  readonly #steps: Steps<void>;
  readonly #stack: PathStack;
  readonly #trees: boolean;
  readonly #recursive: boolean;
  #scan: TreeCursor;
  // By level:
  readonly #scans: (TreeCursor | undefined)[];
  /** Where a level's scan goes on. */
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

  /** Goes on by one piece of work; false at the end. */
  step(): boolean {
    this.isFound = false;
    const step = this.#steps.next();
    this.cost = step.value ?? 0;
    return !step.done;
  }

  /** Folders that the walk is in, below the tree. */
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

  /** The path of a folder that the walk is in, with its slash; level 0 is the tree. */
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

  /** Tells one folder at this level from the next. */
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
