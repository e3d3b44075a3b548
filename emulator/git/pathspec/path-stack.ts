import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { type ByteString, bytesIn, concatBytes } from '../object/bytes.js';
import type { MatchState, PathMatcher } from './path-matcher.js';

const SLASH = 0x2f;

/**
 * Minimum number of innermost folders whose matcher state is stored. Of the outer folders, only every 1024th state is
 * stored, which limits the memory for deep trees.
 */
const STATE_LEVELS = 1024;

/**
 * Stack of the folders from a root to the current position of a walk. It stores one path as bytes, and the matcher's
 * states for the innermost folders. The other states are computed again when the walk returns to their folders.
 */
export class PathStack {
  /** Number of folders on the stack, without the root. */
  depth = 0;
  #path: Buffer;
  /** Position in `#path` at which the path of each folder ends, after its slash, by depth. */
  readonly #ends: number[];
  readonly #states: (MatchState | undefined)[] = [];

  /**
   * Creates a stack with only the root. `base` is the path of the root, which all paths begin with. The matcher does
   * not read it.
   */
  constructor(
    base: ByteString,
    readonly matcher: PathMatcher | undefined,
  ) {
    this.#path = Buffer.from(base.padEnd(256), 'latin1');
    this.#ends = [base.length];
    this.#states.push(matcher?.start);
  }

  /** Returns the path of the folder at depth `level`, with its final slash. Level 0 is the root. */
  folder(level: number): ByteString {
    return bytesIn(this.#path, 0, this.#ends[level]);
  }

  folderName(level: number): ByteString {
    return bytesIn(this.#path, this.#ends[level - 1], this.#ends[level]! - 1);
  }

  /** Returns the whole path of the entry `name` in the innermost folder. */
  pathOf(name: ByteString): ByteString {
    return concatBytes(this.folder(this.depth), name);
  }

  /** True if the matcher cannot select any file in the innermost folder or below it. */
  get isDead(): boolean {
    return this.matcher?.isDead(this.#state!) ?? false;
  }

  /**
   * Returns true if the matcher selects a file with this name in the innermost folder. Returns undefined for a long
   * name, for which `acceptsLong` must be called.
   */
  accepts(bytes: Uint8Array, from: number, to: number): boolean | undefined {
    const { matcher } = this;
    const state = this.#state;
    if (matcher === undefined || state === undefined || matcher.acceptsAll(state)) return true;
    return to - from > matcher.piece ? undefined : matcher.acceptsAfter(state, bytes, from, to);
  }

  *acceptsLong(bytes: Uint8Array, from: number, to: number): Steps<boolean> {
    return this.matcher!.accepts((yield* this.#after(this.#state!, bytes, from, to))!);
  }

  /** Enters the subfolder with this name. Returns false, and does not enter it, if no file in it can be selected. */
  *enter(bytes: Uint8Array, from: number, to: number): Steps<boolean> {
    const start = this.#ends[this.depth]!;
    const end = start + to - from + 1;
    this.#reserve(end);
    this.#path.set(bytes.subarray(from, to), start);
    this.#path[end - 1] = SLASH;
    const state = yield* this.#after(this.#state, this.#path, start, end);
    if (state !== undefined && this.matcher!.isDead(state)) return false;
    this.#ends.push(end);
    this.#states.push(state);
    this.depth++;
    const far = this.depth - STATE_LEVELS;
    if (far > 0 && far % STATE_LEVELS !== 0) this.#states[far] = undefined;
    return true;
  }

  /** Returns to the outer folder at depth `level`. */
  *leaveTo(level: number): Steps<void> {
    this.depth = level;
    this.#ends.length = level + 1;
    this.#states.length = level + 1;
    if (this.matcher === undefined || this.#state !== undefined) return;
    let known = level - (level % STATE_LEVELS);
    for (let state = this.#states[known]; known < level; ) {
      state = yield* this.#after(state, this.#path, this.#ends[known]!, this.#ends[known + 1]!);
      this.#states[++known] = state;
      yield COST.operation + this.matcher.takeSpent();
    }
  }

  get #state(): MatchState | undefined {
    return this.#states[this.depth];
  }

  *#after(start: MatchState | undefined, bytes: Uint8Array, from: number, to: number): Steps<MatchState | undefined> {
    const { matcher } = this;
    if (matcher === undefined || start === undefined || matcher.acceptsAll(start)) return start;
    let state = start;
    for (let at = from; at < to; ) {
      const end = Math.min(to, at + matcher.piece);
      state = matcher.after(state, bytes, at, end);
      at = end;
      if (at < to) yield matcher.takeSpent();
    }
    return state;
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#path.length) return;
    const larger = Buffer.allocUnsafe(bytes * 2);
    this.#path.copy(larger, 0, 0, this.#ends[this.depth]!);
    this.#path = larger;
  }
}
