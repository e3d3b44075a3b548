import { resized } from '../../memory/growable.js';
import { lastUpTo } from '../../memory/sorted.js';
import { COST } from '../../schedule/cost.js';
import { AT, KIND, type PatternProgram } from './pattern-program.js';

/**
 * Kind of the character before the current position in the line. `nothing` means the start of the line, `word` a word
 * character (`\w`), `other` any other character.
 */
const BEFORE = { nothing: 0, other: 1, word: 2 } as const;
/**
 * Values in the transition table that are not states. `UNKNOWN` means that the transition is not computed yet,
 * `MATCHED` that the line matches.
 */
const UNKNOWN = 0;
const MATCHED = 1;
/**
 * Limits for the cached states of one automaton: `MAX_NUMBERS` for their total memory in 32-bit numbers (2 MiB),
 * `MAX_STATES` for their number.
 */
const MAX_NUMBERS = 1 << 19;
const MAX_STATES = 1 << 14;
/**
 * Number of states that fit into the cache in any case, however large they are. At least three are needed at once: the
 * first state of a line, the current state and the next state.
 */
const FEWEST_STATES = 16;
/**
 * Work units (microseconds of CPU time) after which `read` returns early. The caller can then yield to the event loop.
 */
const LONGEST_READ = 400;
/**
 * Maximum number of characters that `read` copies out of a string at once. Reading a string character by character
 * takes twice as long.
 */
const LONGEST_PIECE = 4096;
/**
 * Costs in work units (about a microsecond each). `COST_PER_CHARACTER` is for a character with a cached transition,
 * `COST_PER_INSTRUCTION` for each instruction of a state that must be computed.
 */
const COST_PER_CHARACTER = (COST.byteScanned * 3) / 4;
const COST_PER_INSTRUCTION = COST.operation / 4;

/**
 * Lazily built deterministic automaton (lazy DFA) that decides if lines match a regular expression. It reads text in
 * pieces and keeps its state between them, so it can stop after any character. The time is linear in the length of the
 * text for any expression.
 *
 * A state is the set of instructions that may come next (Thompson's construction). Transitions are computed on first
 * use and cached in a table. A full table is cleared. A match may begin anywhere in the line, so the instructions of
 * the first state are added again at each character.
 */
export class LineAutomaton {
  /** True if `read` or `readEnd` has found that the current line matches. */
  isMatched = false;
  /** True if the expression matches every line, as `a*` does. The text then need not be read. */
  readonly matchesAll: boolean;
  readonly #program: PatternProgram;
  readonly #classCount: number;
  /**
   * Tables from UTF-16 code units to character classes. Characters that the expression does not distinguish have one
   * class. `#narrow` covers the units below 256, of which most texts consist. `#wide` covers all 65,536 units and is
   * created on first use.
   */
  readonly #narrow: Uint16Array;
  #wide: Uint16Array | undefined;
  /** Number of 32-bit words in the bit set of one state. The bit set contains the state's instructions. */
  readonly #words: number;
  readonly #most: number;
  /**
   * Arrays with one row per state. `#table` contains the next states by character class, `#sets` the bit set of
   * instructions, and `#before` the kind of the previous character (`BEFORE`). The offset of a state's row in `#table`
   * identifies the state.
   */
  #table: Int32Array;
  #sets: Uint32Array;
  #before: Uint8Array;
  /**
   * Hash table of the states, with chaining. `#byHash` maps the hash of a bit set to the number of the newest state
   * with this hash. `#sameHash` has, for each state, the next older state with an equal hash; 0 if none.
   */
  readonly #byHash = new Map<number, number>();
  #sameHash: Int32Array;
  #count = 0;
  readonly #startSet: Uint32Array;
  #start = 0;
  #state = 0;
  #work = 0;
  readonly #tests: { readonly begin: boolean; readonly word: boolean };
  /** Scratch arrays of `#follow`. They are reused, because `#follow` is called often. */
  readonly #next: Uint32Array;
  readonly #open: Uint32Array;
  readonly #marks: Uint32Array;
  #mark = 0;
  readonly #stack: Int32Array;
  readonly #units = new Uint16Array(LONGEST_PIECE);
  readonly #bytes = Buffer.from(this.#units.buffer);

  constructor(program: PatternProgram, maxNumbers = MAX_NUMBERS) {
    const { kinds, conditions, classCount } = program;
    this.#program = program;
    this.#classCount = classCount;
    this.#words = (kinds.length + 31) >>> 5;
    const max = Math.min(MAX_STATES, Math.floor(maxNumbers / (classCount + this.#words + 8)));
    this.#most = Math.max(FEWEST_STATES, max);
    this.#table = new Int32Array(FEWEST_STATES * classCount);
    this.#sets = new Uint32Array(FEWEST_STATES * this.#words);
    this.#before = new Uint8Array(FEWEST_STATES);
    this.#sameHash = new Int32Array(FEWEST_STATES);
    this.#next = new Uint32Array(this.#words);
    this.#open = new Uint32Array(this.#words);
    this.#marks = new Uint32Array(kinds.length);
    this.#stack = new Int32Array(kinds.length * 2 + 2);
    this.#tests = {
      begin: (conditions & (AT.lineStart | AT.textStart)) !== 0,
      word: (conditions & (AT.wordEdge | AT.noWordEdge)) !== 0,
    };
    this.#narrow = new Uint16Array(256);
    this.#fillClasses(this.#narrow);
    this.#startSet = new Uint32Array(this.#words);
    this.#mark++;
    this.matchesAll = this.#add(program.start, 0, this.#startSet);
    this.#forget();
    this.begin();
  }

  /** Resets the automaton to the start of a line. */
  begin(): void {
    this.#state = this.#start;
    this.isMatched = false;
  }

  /**
   * Reads the text from `from` to at most `to`, across line ends, until a line matches. Returns the position where it
   * stopped. This is inside the first matching line, or at the next character to read. If `to` is inside a surrogate
   * pair, one more code unit is read.
   */
  read(text: string, from: number, to: number): number {
    const narrow = this.#narrow;
    let table = this.#table;
    let state = this.#state;
    let at = from;
    const limit = this.#work + LONGEST_READ;
    const units = this.#units;
    const end = Math.min(to, from + units.length);
    this.#bytes.write(text.slice(from, end), 'utf16le');
    while (at < end) {
      const unit = units[at - from]!;
      let width = 1;
      let type: number;
      if (unit < 256) type = narrow[unit]!;
      else if (unit < 0xd800 || unit > 0xdbff) type = this.#wideClass(unit);
      else {
        const code = text.codePointAt(at)!;
        if (code > 0xffff) width = 2;
        type = this.#classOf(code);
      }
      let next = table[state + type]!;
      if (next <= MATCHED) {
        if (next === UNKNOWN) {
          next = this.#follow(state, type);
          table = this.#table;
        }
        if (next === MATCHED) {
          this.isMatched = true;
          break;
        }
        if (this.#work >= limit) {
          at += width;
          state = next;
          break;
        }
      }
      state = next;
      at += width;
    }
    this.#state = state;
    this.#work += (at - from) * COST_PER_CHARACTER;
    return at;
  }

  /**
   * Ends the last line of the text if it has no line feed. An expression such as `a$` can match only at the end of the
   * line, so this sets `isMatched`.
   */
  readEnd(): void {
    let next = this.#table[this.#state]!;
    if (next === UNKNOWN) next = this.#follow(this.#state, 0);
    this.isMatched = next === MATCHED;
    this.#state = this.#start;
  }

  /** Returns the work units spent since the last call of this method. */
  takeCost(): number {
    const cost = this.#work;
    this.#work = 0;
    return cost;
  }

  #wideClass(unit: number): number {
    if (this.#wide === undefined) {
      this.#wide = new Uint16Array(0x10000);
      this.#fillClasses(this.#wide);
      this.#work += this.#wide.length * COST.byteCopied;
    }
    return this.#wide[unit]!;
  }

  #fillClasses(list: Uint16Array): void {
    const { bounds, classes } = this.#program;
    for (let at = 0; at < bounds.length && bounds[at]! < list.length; at++) {
      list.fill(classes[at]!, bounds[at]!, bounds[at + 1] ?? list.length);
    }
  }

  #classOf(code: number): number {
    const { bounds, classes } = this.#program;
    return classes[lastUpTo(bounds, code)]!;
  }

  /**
   * Computes and caches the state that follows `state` after a character of class `type`. Returns `MATCHED` if the line
   * matches.
   */
  #follow(state: number, type: number): number {
    const { kinds, out, other, takes, isWord } = this.#program;
    const number = state / this.#classCount;
    const before = this.#before[number]!;
    const classCount = this.#classCount;
    const sets = this.#sets;
    const offset = number * this.#words;
    const next = this.#next.fill(0);
    const flags = conditionsAt(before, type === 0, isWord[type] === 1);
    this.#mark++;
    let isMatch = false;
    let hasOpen = false;
    // First follow the conditions (such as `\b`) that hold before this character, because the instructions after them
    // may consume the character.
    if (this.#program.conditions !== 0) {
      const open = this.#open.fill(0);
      for (let word = 0; word < this.#words && !isMatch; word++) {
        for (let bits = sets[offset + word]!; bits !== 0 && !isMatch; bits &= bits - 1) {
          const at = (word << 5) + (31 - Math.clz32(bits & -bits));
          if (kinds[at] !== KIND.condition || (other[at]! & ~flags) !== 0) continue;
          hasOpen = true;
          isMatch = this.#add(out[at]!, flags, open);
        }
      }
    }
    if (type !== 0 && !isMatch) {
      this.#mark++;
      for (let word = 0; word < this.#words && !isMatch; word++) {
        this.#work += COST_PER_INSTRUCTION;
        const set: number = sets[offset + word]! | (hasOpen ? this.#open[word]! : 0);
        for (let bits = set; bits !== 0 && !isMatch; bits &= bits - 1) {
          const at = (word << 5) + (31 - Math.clz32(bits & -bits));
          this.#work += COST_PER_INSTRUCTION;
          if (kinds[at] === KIND.character && takes[other[at]! * classCount + type] === 1) {
            isMatch = this.#add(out[at]!, 0, next);
          }
        }
      }
    }
    let following = MATCHED;
    if (!isMatch && type === 0) following = this.#start;
    else if (!isMatch) {
      for (let word = 0; word < this.#words; word++) next[word]! |= this.#startSet[word]!;
      following = this.#stateOf(next, isWord[type] === 1 && this.#tests.word ? BEFORE.word : BEFORE.other);
      // A negative number means that the table was cleared to make space. The row of the current state is then gone, so
      // the transition cannot be cached.
      if (following < 0) return -following;
    }
    this.#table[state + type] = following;
    return following;
  }

  /**
   * Adds to `set` all instructions that can be reached from instruction `from` without consuming a character. Only
   * conditions that hold according to `flags` are passed. A condition that does not hold is added itself, because it
   * may hold later. Returns true if the end of the expression is reached, so that the line matches.
   */
  #add(from: number, flags: number, set: Uint32Array): boolean {
    const { kinds, out, other } = this.#program;
    const stack = this.#stack;
    const marks = this.#marks;
    const mark = this.#mark;
    let top = 0;
    stack[top++] = from;
    while (top > 0) {
      const at = stack[--top]!;
      if (marks[at] === mark) continue;
      marks[at] = mark;
      this.#work += COST_PER_INSTRUCTION;
      switch (kinds[at]) {
        case KIND.match:
          return true;
        case KIND.split:
          stack[top++] = out[at]!;
          stack[top++] = other[at]!;
          break;
        case KIND.jump:
          stack[top++] = out[at]!;
          break;
        case KIND.condition:
          if (flags !== 0 && (other[at]! & ~flags) === 0) stack[top++] = out[at]!;
          else set[at >>> 5]! |= 1 << (at & 31);
          break;
        case KIND.character:
          set[at >>> 5]! |= 1 << (at & 31);
          break;
      }
    }
    return false;
  }

  /**
   * Returns the state with these instructions, as the offset of its row in the table. Creates the state if necessary.
   * Returns the negative offset if the table was cleared to make space for it.
   */
  #stateOf(set: Uint32Array, before: number): number {
    const words = this.#words;
    let hash = before;
    for (let word = 0; word < words; word++) hash = (Math.imul(hash, 0x01000193) ^ set[word]!) | 0;
    this.#work += words * COST_PER_INSTRUCTION;
    for (let number = this.#byHash.get(hash) ?? 0; number !== 0; number = this.#sameHash[number]!) {
      if (this.#before[number] === before && this.#isSet(number, set)) return number * this.#classCount;
    }
    const isFull = this.#count >= this.#most;
    if (isFull) this.#forget();
    const number = this.#count++;
    this.#reserve();
    this.#sets.set(set, number * words);
    this.#before[number] = before;
    this.#sameHash[number] = this.#byHash.get(hash) ?? 0;
    this.#byHash.set(hash, number);
    this.#table.fill(UNKNOWN, number * this.#classCount, (number + 1) * this.#classCount);
    this.#work += 0.5 + this.#classCount / 2048;
    const state = number * this.#classCount;
    return isFull ? -state : state;
  }

  #isSet(number: number, set: Uint32Array): boolean {
    const offset = number * this.#words;
    for (let word = 0; word < this.#words; word++) if (this.#sets[offset + word] !== set[word]) return false;
    return true;
  }

  /**
   * Removes all cached states and creates the first state of a line again. Number 0 is never used for a state, because
   * 0 means `UNKNOWN` in the table.
   */
  #forget(): void {
    this.#work += this.#count / 256;
    this.#count = 1;
    this.#byHash.clear();
    this.#start = Math.abs(this.#stateOf(this.#startSet, this.#tests.begin ? BEFORE.nothing : BEFORE.other));
  }

  #reserve(): void {
    const room = this.#before.length;
    if (this.#count <= room) return;
    const larger = Math.min(room * 2, this.#most);
    this.#table = resized(this.#table, larger * this.#classCount);
    this.#sets = resized(this.#sets, larger * this.#words);
    this.#before = resized(this.#before, larger);
    this.#sameHash = resized(this.#sameHash, larger);
    this.#work += (larger * (this.#classCount + this.#words)) / 1024;
  }
}

/**
 * Returns the conditions (bits of `AT`, such as `lineStart`) that hold at a position in the line. `before` is the kind
 * of the character before the position. `isEnd` is true at the end of the line. `isWord` is true if a word character
 * follows.
 */
function conditionsAt(before: number, isEnd: boolean, isWord: boolean): number {
  return (
    (before === BEFORE.nothing ? AT.lineStart | AT.textStart : 0) |
    (isEnd ? AT.lineEnd | AT.textEnd : 0) |
    ((before === BEFORE.word) === isWord ? AT.noWordEdge : AT.wordEdge)
  );
}
