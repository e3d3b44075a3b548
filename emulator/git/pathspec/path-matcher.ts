import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { ANY, ANY_BUT_SLASH, type Token } from './wildmatch.js';

/**
 * Pattern for paths. All its tokens must match the whole path. The exceptions are in `ends`: a match may also end
 * before one of these tokens.
 */
export interface PathPattern {
  readonly tokens: readonly Token[];
  readonly ignoreCase: boolean;
  /** Indexes of tokens before which a match may end. For example, `docs` followed by `/**` may end before the slash. */
  readonly ends: readonly number[];
}

/** Patterns that a path is tested for. At least one must match the path. If `refuses` is true, none may match it. */
export interface Condition {
  readonly patterns: readonly PathPattern[];
  readonly refuses: boolean;
}

/** State of the `PathMatcher` automaton after the first bytes of a path. */
export interface MatchState {
  readonly words: Int32Array;
  /** Cached next states, indexed by the next byte. Undefined if this state itself is not cached. */
  readonly next: (MatchState | undefined)[] | undefined;
  verdict: number | undefined;
}

const SLASH = 0x2f;

const ACCEPTED = 1;
const DEAD = 2;
const ACCEPTS_ALL = 4;

/**
 * Memory limit in bytes for all cached states of a matcher. In a cached state, each byte of a path costs one lookup.
 * Otherwise, it costs one operation per 32-bit word of state bits.
 */
const KEPT_BYTES = 1 << 20;
/** Approximate memory in bytes of a cached state, not counting its bits. */
const STATE_BYTES = 2400;
/** Cost of compiling one token, in work units (microseconds of CPU time). */
const TOKEN_COST = COST.entry;
/** Cost of one 32-bit word of state bits for each byte of a path, in work units (microseconds of CPU time). */
const WORD_COST = COST.byteScanned;
const LARGEST_PIECE = 250;

/**
 * Automaton (bit-parallel NFA) that tests paths for all conditions of one request. It reads each byte of a path once.
 *
 * The tokens of all patterns are concatenated. Each token has a bit that means "the path so far matches everything
 * before this token". Each pattern has one more bit for its end. A byte moves all bits at once: from each token that
 * matches the byte to the next token. The bits of stars also stay in place. A byte therefore costs at most one
 * operation per word of bits, whatever the path contains.
 *
 * In practice, only few different sets of bits occur. They are cached with their transitions, so a byte usually costs
 * one lookup (lazy DFA).
 *
 * The state after a folder's path `a/b/` is computed once and used for all paths in the folder.
 */
export class PathMatcher {
  /** State before the first byte of a path. */
  readonly start: MatchState;
  /**
   * Maximum number of path bytes that may be processed between two yields to the event loop. More patterns make this
   * number smaller.
   */
  readonly piece: number;
  #spent = 0;
  readonly #size: number;
  readonly #conditions: { readonly from: number; readonly to: number; readonly refuses: boolean }[] = [];
  /**
   * Bits of the tokens that match each byte, indexed by the byte. An item is computed from the masks below when its
   * byte first occurs in a path.
   */
  readonly #moves: (Int32Array | undefined)[] = new Array(256);
  readonly #literals: (Int32Array | undefined)[] = new Array(256);
  readonly #sets: { readonly bit: number; readonly set: Uint8Array; readonly ignoreCase: boolean }[] = [];
  readonly #movesOnSlash: Int32Array;
  readonly #movesOnOther: Int32Array;
  /**
   * Bits of the stars, which can match any number of bytes. `#staysOnSlash` has the stars that match a slash,
   * `#staysOnOther` those that match other bytes.
   */
  readonly #staysOnSlash: Int32Array;
  readonly #staysOnOther: Int32Array;
  /**
   * Bits of the tokens that may match the empty string. A path that has reached such a token has also reached the next
   * token.
   */
  readonly #passes: Int32Array;
  readonly #ends: Int32Array;
  /** Bits of final `**` tokens. A path that has reached such a token matches, whatever bytes follow. */
  readonly #finals: Int32Array;
  readonly #kept = new Map<number, MatchState[]>();
  #room: number;
  /** Arrays for the bits of a state that is not cached. They are reused, to avoid an allocation for each byte. */
  #words: Int32Array;
  #spare: Int32Array;

  /** Compiles the conditions of a request into an automaton. */
  static *compile(conditions: readonly Condition[]): Steps<PathMatcher> {
    const matcher = new PathMatcher(conditions);
    for (const [index, { patterns }] of conditions.entries()) {
      let bit = matcher.#conditions[index]!.from * 32;
      for (const pattern of patterns) {
        matcher.#place(pattern, bit);
        bit += pattern.tokens.length + 1;
        yield pattern.tokens.length * TOKEN_COST;
      }
    }
    return matcher;
  }

  private constructor(conditions: readonly Condition[]) {
    let words = 0;
    for (const { patterns, refuses } of conditions) {
      const from = words;
      const bits = patterns.reduce((sum, { tokens }) => sum + tokens.length + 1, 0);
      words += Math.ceil(bits / 32);
      this.#conditions.push({ from, to: words, refuses });
    }
    this.#size = words;
    this.piece = Math.max(1, Math.floor(LARGEST_PIECE / (WORD_COST * (words + 16))));
    const bits = () => new Int32Array(words);
    [this.#movesOnSlash, this.#movesOnOther, this.#staysOnSlash, this.#staysOnOther] = [bits(), bits(), bits(), bits()];
    [this.#passes, this.#ends, this.#finals, this.#words, this.#spare] = [bits(), bits(), bits(), bits(), bits()];
    this.#room = Math.floor(KEPT_BYTES / (STATE_BYTES + 4 * words));
    this.start = { words: bits(), next: new Array<MatchState | undefined>(256), verdict: undefined };
  }

  /**
   * Returns the work units (microseconds of CPU time) spent since the last call of this method. The caller reports them
   * to the meter of the request.
   */
  takeSpent(): number {
    const spent = this.#spent;
    this.#spent = 0;
    return spent;
  }

  /**
   * Returns the state after more bytes of a path, those from `from` to `to` (exclusive). `state` is the state before
   * these bytes. The caller must pass at most `piece` bytes, because this method does not yield.
   */
  after(state: MatchState, bytes: Uint8Array, from: number, to: number): MatchState {
    return this.#run(state, bytes, from, to) ?? this.#keep(this.#words);
  }

  /**
   * Returns true if a path meets all conditions. `state` is the state after the first part of the path. The bytes from
   * `from` to `to` (exclusive) are the rest of the path.
   */
  acceptsAfter(state: MatchState, bytes: Uint8Array, from: number, to: number): boolean {
    const end = this.#run(state, bytes, from, to);
    return ((end === undefined ? this.#verdictFor(this.#words) : this.#verdictOf(end)) & ACCEPTED) !== 0;
  }

  /** Returns true if the path that led to `state` meets all conditions. */
  accepts(state: MatchState): boolean {
    return (this.#verdictOf(state) & ACCEPTED) !== 0;
  }

  /**
   * Returns true if no continuation of the path that led to `state` can meet all conditions. If this path is a folder,
   * the folder need not be entered.
   */
  isDead(state: MatchState): boolean {
    return (this.#verdictOf(state) & DEAD) !== 0;
  }

  /**
   * Returns true if every continuation of the path that led to `state` meets all conditions. If this path is a folder,
   * the paths in it need not be tested.
   */
  acceptsAll(state: MatchState): boolean {
    return (this.#verdictOf(state) & ACCEPTS_ALL) !== 0;
  }

  /**
   * Returns the state after the bytes from `from` to `to` (exclusive). If this state is not cached, returns undefined,
   * and the bits of the state are in `#words`.
   */
  #run(start: MatchState, bytes: Uint8Array, from: number, to: number): MatchState | undefined {
    let state: MatchState | undefined = start;
    this.#spent += (to - from) * COST.byteScanned;
    for (let at = from; at < to; at++) {
      const byte = bytes[at]!;
      const known: MatchState | undefined = state?.next?.[byte];
      if (known !== undefined) {
        state = known;
        continue;
      }
      this.#step(state === undefined ? this.#words : state.words, byte);
      const next: MatchState | undefined = this.#room > 0 ? this.#keep(this.#words) : undefined;
      if (state?.next !== undefined && next?.next !== undefined) state.next[byte] = next;
      state = next;
    }
    return state;
  }

  /**
   * Computes the bits of the state that follows after `byte`, and stores them in `#words`. `words` contains the bits of
   * the state before; it may be `#words` itself.
   */
  #step(words: Int32Array, byte: number): void {
    const moves = this.#moves[byte] ?? this.#movesOn(byte);
    const stays = byte === SLASH ? this.#staysOnSlash : this.#staysOnOther;
    const passes = this.#passes;
    const result = this.#spare;
    let moved = 0;
    let passed = 0;
    for (let at = 0; at < words.length; at++) {
      const word = words[at]!;
      if (word === 0 && moved === 0 && passed === 0) {
        result[at] = 0;
        continue;
      }
      const leaving = word & moves[at]!;
      let entered = (leaving << 1) | moved | passed;
      moved = leaving >>> 31;
      // A star may match nothing, so its bit also sets the next token's bit. This is done twice, because at most two
      // stars can follow each other: `**/*`.
      entered |= (entered & passes[at]!) << 1;
      entered |= (entered & passes[at]!) << 1;
      passed = (entered & passes[at]!) >>> 31;
      result[at] = entered | (word & stays[at]!);
    }
    this.#spare = this.#words;
    this.#words = result;
    this.#spent += (words.length + 16) * WORD_COST;
  }

  #verdictOf(state: MatchState): number {
    state.verdict ??= this.#verdictFor(state.words);
    return state.verdict;
  }

  #verdictFor(words: Int32Array): number {
    let isAccepted = true;
    let isDead = false;
    let acceptsAll = true;
    this.#spent += words.length * WORD_COST;
    for (const { from, to, refuses } of this.#conditions) {
      let alive = 0;
      let ends = 0;
      let finals = 0;
      for (let at = from; at < to; at++) {
        alive |= words[at]!;
        ends |= words[at]! & this.#ends[at]!;
        finals |= words[at]! & this.#finals[at]!;
      }
      isAccepted &&= (ends !== 0) !== refuses;
      isDead ||= refuses ? finals !== 0 : alive === 0;
      acceptsAll &&= refuses ? alive === 0 : finals !== 0;
    }
    return (isAccepted ? ACCEPTED : 0) | (isDead ? DEAD : 0) | (acceptsAll ? ACCEPTS_ALL : 0);
  }

  /** Returns the cached state with these bits, or a new state. The new state is not cached if the cache is full. */
  #keep(words: Int32Array): MatchState {
    let hash = 0;
    for (let at = 0; at < words.length; at++) hash = Math.imul(hash ^ words[at]!, 0x01000193);
    this.#spent += words.length * WORD_COST;
    const same = this.#kept.get(hash);
    for (const state of same ?? []) if (isEqual(state.words, words)) return state;
    if (this.#room <= 0) return { words: words.slice(), next: undefined, verdict: undefined };
    this.#room--;
    const state = { words: words.slice(), next: new Array<MatchState | undefined>(256), verdict: undefined };
    if (same === undefined) this.#kept.set(hash, [state]);
    else same.push(state);
    return state;
  }

  #movesOn(byte: number): Int32Array {
    const moves = (byte === SLASH ? this.#movesOnSlash : this.#movesOnOther).slice();
    const literals = this.#literals[byte];
    if (literals !== undefined) for (let at = 0; at < moves.length; at++) moves[at]! |= literals[at]!;
    const folded = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
    for (const { bit, set, ignoreCase } of this.#sets) if (set[ignoreCase ? folded : byte] === 1) setBit(moves, bit);
    this.#moves[byte] = moves;
    this.#spent += (moves.length + this.#sets.length) * WORD_COST;
    return moves;
  }

  #place({ tokens, ignoreCase, ends }: PathPattern, first: number): void {
    const end = first + tokens.length;
    setBit(this.#ends, end);
    setBit(this.start.words, first);
    for (const token of ends) setBit(this.#ends, first + token);
    tokens.forEach((token, index) => {
      const bit = first + index;
      if (typeof token === 'number') this.#placeLiteral(token, ignoreCase, bit);
      else if (token === ANY || token === ANY_BUT_SLASH) {
        setBit(this.#movesOnOther, bit);
        if (token === ANY) setBit(this.#movesOnSlash, bit);
      } else if (typeof token !== 'string') this.#sets.push({ bit, set: token, ignoreCase });
      else {
        setBit(this.#passes, bit);
        if (hasBit(this.start.words, bit)) setBit(this.start.words, bit + 1);
        setBit(this.#staysOnOther, bit);
        // A `folders` token (`**/`) can end only at a slash, so other bytes do not move it.
        if (token !== 'folders') setBit(this.#movesOnOther, bit);
        if (token === 'star') return;
        setBit(this.#staysOnSlash, bit);
        setBit(this.#movesOnSlash, bit);
        if (token === 'starstar' && bit + 1 === end) setBit(this.#finals, bit);
      }
    });
  }

  #placeLiteral(byte: number, ignoreCase: boolean, bit: number): void {
    const isCapital = byte >= 0x41 && byte <= 0x5a;
    const isSmall = byte >= 0x61 && byte <= 0x7a;
    // With `ignoreCase`, the parser has converted all unescaped capital letters. A remaining capital was escaped. It
    // matches nothing, as in Git.
    if (!ignoreCase || !isCapital) this.#addLiteral(byte, bit);
    if (ignoreCase && isSmall) this.#addLiteral(byte - 0x20, bit);
  }

  #addLiteral(byte: number, bit: number): void {
    this.#literals[byte] ??= new Int32Array(this.#size);
    setBit(this.#literals[byte]!, bit);
  }
}

function setBit(words: Int32Array, bit: number): void {
  words[bit >>> 5]! |= 1 << (bit & 31);
}

function hasBit(words: Int32Array, bit: number): boolean {
  return ((words[bit >>> 5]! >>> (bit & 31)) & 1) === 1;
}

function isEqual(a: Int32Array, b: Int32Array): boolean {
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
