import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { type ByteString, bytesIn, concatBytes } from '../object/bytes.js';
import type { MatchState, PathMatcher } from './path-matcher.js';

const SLASH = 0x2f;

/**
 * Number of innermost folders whose matcher states are always stored. Further out, only every 1024th state is stored,
 * to limit the memory for deep trees.
 */
const STATE_LEVELS = 1024;

/**
 * Stack of the folders from a root to the current position of a walk. It stores their path as bytes, and the matcher's
 * states after the paths of the innermost folders. States of folders further out are recomputed when the walk returns
 * to them.
 */
export class PathStack {
  /** Number of folders on the stack, not counting the root. */
  depth = 0;
  #path: Buffer;
  /** Length in bytes of each folder's path in `#path`, with its final slash. The index is the depth of the folder. */
  readonly #ends: number[];
  readonly #states: (MatchState | undefined)[] = [];

  /**
   * Creates a stack that contains only the root. All paths begin with `base`, the path of the root. The matcher does
   * not read `base`, so patterns are relative to the root.
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

  /** Returns the whole path of the entry `name` in the innermost folder. It begins with the path of the root. */
  pathOf(name: ByteString): ByteString {
    return concatBytes(this.folder(this.depth), name);
  }

  /** True if the matcher cannot select any file in or below the innermost folder. The folder then need not be read. */
  get isDead(): boolean {
    return this.matcher?.isDead(this.#state!) ?? false;
  }

  /**
   * Returns true if the matcher selects a file in the innermost folder. The name of the file is in `bytes` from `from`
   * to `to` (exclusive). Returns undefined if the name is long; the caller must then call `acceptsLong`.
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

  /**
   * Enters a subfolder of the innermost folder. The name of the subfolder is in `bytes` from `from` to `to`
   * (exclusive). Returns false, without entering, if the matcher cannot select any file in the subfolder.
   */
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

  /** Leaves all folders below depth `level`. If the matcher's state for this depth was not stored, it is recomputed. */
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
