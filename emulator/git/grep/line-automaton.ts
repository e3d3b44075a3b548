import { resized } from '../../memory/growable.js';
import { lastUpTo } from '../../memory/sorted.js';
import { COST } from '../../schedule/cost.js';
import { AT, KIND, type PatternProgram } from './pattern-program.js';

/** What came before a place in a line. */
const BEFORE = { nothing: 0, other: 1, word: 2 } as const;
/** Entries of the table beside the numbers of states: not known yet, and "the line matches". */
const UNKNOWN = 0;
const MATCHED = 1;
/** Numbers that the states of one automaton may take together, 2 MiB, and how many states it keeps. */
const MAX_NUMBERS = 1 << 19;
const MAX_STATES = 1 << 14;
/** States there is always room for: the first of a line, one and the next. */
const FEWEST_STATES = 16;
/** Units after which `read` stops though it has not come to where it should. */
const LONGEST_READ = 400;
/** Characters that `read` takes at most. Out of a string they would be taken one by one at twice the cost. */
const LONGEST_PIECE = 4096;
/** Units that a character costs when the state it leads to is known, and an instruction of one that is not. */
const COST_PER_CHARACTER = (COST.byteScanned * 3) / 4;
const COST_PER_INSTRUCTION = COST.operation / 4;

/**
 * Finds out whether lines match a pattern, a piece of text at a time: between two pieces it keeps all it has to know of
 * the line so far. It costs time linear in the text whatever the pattern, and may stop after any character.
 *
 * A state is the set of instructions that may come next, after all that was read of the line (Thompson's construction);
 * which state follows on which character is found out once and kept in a table. When there are too many, all are
 * forgotten. The first state of a line is tried at each of its characters, since a match may begin at each.
 */
export class LineAutomaton {
  /** Whether the line at the place where `read` stopped matches. */
  isMatched = false;
  /** Every line matches. */
  readonly matchesAll: boolean;
  readonly #program: PatternProgram;
  readonly #classCount: number;
  /** Of the characters below 256, which most texts are made of; and of all in the basic plane, when one is met. */
  readonly #narrow: Uint16Array;
  #wide: Uint16Array | undefined;
  /** Numbers of 32 instructions each, that the set of one state takes. */
  readonly #words: number;
  readonly #most: number;
  /** By state: the states that follow by class of character; its set; what came before. A state is numbered by its row. */
  #table: Int32Array;
  #sets: Uint32Array;
  #before: Uint8Array;
  /** States by the hash of their set, and others of the same hash. */
  readonly #byHash = new Map<number, number>();
  #sameHash: Int32Array;
  #count = 0;
  readonly #startSet: Uint32Array;
  #start = 0;
  #state = 0;
  #work = 0;
  readonly #tests: { readonly begin: boolean; readonly word: boolean };
  /** Working space of `#follow`. */
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

  /** The next character is the first of a line. */
  begin(): void {
    this.#state = this.#start;
    this.isMatched = false;
  }

  /**
   * Reads on from `from`, over line ends, up to `to` at most. Returns where it stopped: at a character of the first line
   * that matches, or at the next one to read. A `to` between the halves of a surrogate pair may be passed by one.
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

  /** Reads the end of a line that ends without a line feed, or before it. */
  readEnd(): void {
    let next = this.#table[this.#state]!;
    if (next === UNKNOWN) next = this.#follow(this.#state, 0);
    this.isMatched = next === MATCHED;
    this.#state = this.#start;
  }

  /** Units spent since it was asked last. */
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

  /** The state that follows on a character of class `type`, which is entered into the table. */
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
    // What conditions open here is followed before anything is taken: it may be open to the same character.
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
      // Everything was forgotten, and with it where this would be entered.
      if (following < 0) return -following;
    }
    this.#table[state + type] = following;
    return following;
  }

  /**
   * Adds to `set` what can be come to from instruction `from` without a character, going through conditions that hold
   * with `flags`; the others stay in the set. Returns whether a match is among it.
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

  /** The number of a state; negative if all others had to be forgotten for it. */
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

  /** Forgets all states but the first of a line. State 0 stands for none. */
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

/** The conditions that hold before a character of a word, another one, or the end of the line. */
function conditionsAt(before: number, isEnd: boolean, isWord: boolean): number {
  return (
    (before === BEFORE.nothing ? AT.lineStart | AT.textStart : 0) |
    (isEnd ? AT.lineEnd | AT.textEnd : 0) |
    ((before === BEFORE.word) === isWord ? AT.noWordEdge : AT.wordEdge)
  );
}
