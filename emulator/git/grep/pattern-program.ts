import type { RE2JS } from 're2js';
import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';

/**
 * Conditions on the position between two characters, such as `^`, `$` and `\b`. They are bits with the values that RE2
 * uses.
 */
export const AT = { lineStart: 1, lineEnd: 2, textStart: 4, textEnd: 8, wordEdge: 16, noWordEdge: 32 } as const;

/** Operation codes of the instructions in a compiled RE2 program. */
const OPERATION = { alt: 1, altMatch: 2, capture: 3, emptyWidth: 4, fail: 5, match: 6, nop: 7, rune: 8, runeAny: 10 };
/**
 * Highest operation code of an instruction that consumes a character. All codes from `rune` to this one do. This code
 * is for any character except a line feed.
 */
const LAST_RUNE = 11;

/** Instruction of a compiled program, in the form of the library `re2js`. */
interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: ArrayLike<number>;
  matchRune(rune: number): boolean;
}

export const KIND = { split: 0, jump: 1, fail: 2, match: 3, character: 4, condition: 5 } as const;

/**
 * Compiled RE2 program, stored as a struct of arrays with one element per instruction.
 *
 * After an instruction, the program continues at instruction `out`, and after a split also at `other`. A character
 * instruction consumes the characters whose classes are set in its row of `takes`. A condition requires all its bits
 * (in `other`, bits of `AT`).
 */
export interface PatternProgram {
  readonly start: number;
  readonly kinds: Uint8Array;
  readonly out: Int32Array;
  /**
   * Second operand. Its meaning depends on the kind of the instruction: second target of a split, row of `takes` for a
   * character instruction, or bits of a condition.
   */
  readonly other: Int32Array;
  /**
   * Matrix with a row for each distinct set of characters. The value at `row * classCount + class` is 1 if the set
   * contains the characters of the class.
   */
  readonly takes: Uint8Array;
  /**
   * Number of character classes. Characters that no instruction distinguishes have one class. Class 0 contains only the
   * line feed.
   */
  readonly classCount: number;
  /**
   * Character classes as ranges: `classes[n]` is the class of the code points from `bounds[n]` to `bounds[n + 1]`
   * (exclusive).
   */
  readonly bounds: Int32Array;
  readonly classes: Uint16Array;
  /** One value per class: 1 if its characters are word characters (`\w`) in RE2, else 0. */
  readonly isWord: Uint8Array;
  /** Bits of all conditions that occur in the program. */
  readonly conditions: number;
}

const LINE_FEED = 10;

/**
 * Converts an expression compiled by the library `re2js` into a `PatternProgram`, and computes its character classes.
 */
export function* readProgram(expression: RE2JS): Steps<PatternProgram> {
  const { prog, dfa } = expression.re2();
  const count = prog.numInst();
  const kinds = new Uint8Array(count);
  const out = new Int32Array(count);
  const other = new Int32Array(count);
  const sets = new SetList();
  let conditions = 0;
  for (let at = 0; at < count; at++) {
    const instruction = prog.getInst(at) as Instruction;
    kinds[at] = kindOf(instruction.op);
    out[at] = instruction.out;
    if (kinds[at] === KIND.character) other[at] = sets.rowOf(instruction);
    else other[at] = instruction.arg;
    if (kinds[at] === KIND.condition) conditions |= instruction.arg;
  }
  yield count * COST.operation * 4;

  const bounds = boundsOf(dfa.classBounds, conditions);
  let classes: Uint16Array<ArrayBufferLike> = Uint16Array.from(bounds, (first) => (first === LINE_FEED ? 0 : 1));
  let classCount = 2;
  if (conditions & (AT.wordEdge | AT.noWordEdge)) {
    [classes, classCount] = split(classes, (at) => isWordCharacter(bounds[at]!));
  }
  for (const instruction of sets.distinct) {
    [classes, classCount] = split(classes, (at) => instruction.matchRune(bounds[at]!));
    yield bounds.length * COST.operation * 2;
  }
  const takes = new Uint8Array(sets.distinct.length * classCount);
  const isWord = new Uint8Array(classCount);
  const examples = new Int32Array(classCount);
  for (let at = 0; at < bounds.length; at++) examples[classes[at]!] = bounds[at]!;
  for (let of = 1; of < classCount; of++) isWord[of] = isWordCharacter(examples[of]!) ? 1 : 0;
  for (const [row, instruction] of sets.distinct.entries()) {
    for (let of = 1; of < classCount; of++) {
      if (instruction.matchRune(examples[of]!)) takes[row * classCount + of] = 1;
    }
    yield classCount * COST.operation * 2;
  }
  return { start: prog.start, kinds, out, other, takes, classCount, bounds, classes, isWord, conditions };
}

function kindOf(operation: number): number {
  switch (operation) {
    case OPERATION.alt:
    case OPERATION.altMatch:
      return KIND.split;
    case OPERATION.capture:
    case OPERATION.nop:
      return KIND.jump;
    case OPERATION.emptyWidth:
      return KIND.condition;
    case OPERATION.match:
      return KIND.match;
    case OPERATION.fail:
      return KIND.fail;
  }
  if (operation >= OPERATION.rune && operation <= LAST_RUNE) return KIND.character;
  throw new Error(`RE2 has no instruction ${operation}`);
}

/** Returns the code points at which a new character class may begin, in ascending order. The first one is 0. */
function boundsOf(known: Int32Array, conditions: number): Int32Array {
  const words = conditions & (AT.wordEdge | AT.noWordEdge) ? [0x30, 0x3a, 0x41, 0x5b, 0x5f, 0x60, 0x61, 0x7b] : [];
  return Int32Array.from(new Set([0, LINE_FEED, LINE_FEED + 1, ...known, ...words])).sort();
}

/**
 * Splits each character class in two: the characters with the property, and those without. Class 0 (the line feed)
 * stays unchanged. Returns the new class of each range and the number of classes.
 */
function split(classes: Uint16Array, hasProperty: (at: number) => boolean): [Uint16Array, number] {
  const numbers = new Map<number, number>();
  let count = 1;
  const refined = classes.map((of, at) => {
    if (of === 0) return 0;
    const key = of * 2 + (hasProperty(at) ? 1 : 0);
    let number = numbers.get(key);
    if (number === undefined) {
      number = count++;
      numbers.set(key, number);
    }
    return number;
  });
  return [refined, count];
}

/** Returns true for a word character (`\w`). In RE2, these are ASCII letters, digits and `_`. */
function isWordCharacter(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || (code >= 0x61 && code <= 0x7a)
  );
}

/** Distinct character instructions of a program. Equal instructions share one row of `takes`. */
class SetList {
  readonly distinct: Instruction[] = [];
  readonly #byRunes = new Map<ArrayLike<number>, number[]>();
  readonly #byHash = new Map<number, number[]>();

  rowOf(instruction: Instruction): number {
    const { runes, op, arg } = instruction;
    // The array of runes is first looked up by identity. Copies of an instruction, which RE2 makes for `{n}`, share
    // this array.
    const known = this.#byRunes.get(runes)?.find((row) => isAlike(this.distinct[row]!, instruction));
    if (known !== undefined) return known;
    let hash = op * 31 + arg;
    for (let at = 0; at < runes.length; at++) hash = (Math.imul(hash, 31) + runes[at]!) | 0;
    const alike = this.#byHash.get(hash) ?? [];
    let row = alike.find(
      (row) => isAlike(this.distinct[row]!, instruction) && hasSameRunes(this.distinct[row]!, instruction),
    );
    if (row === undefined) {
      row = this.distinct.push(instruction) - 1;
      this.#byHash.set(hash, [...alike, row]);
    }
    this.#byRunes.set(runes, [...(this.#byRunes.get(runes) ?? []), row]);
    return row;
  }
}

function isAlike(a: Instruction, b: Instruction): boolean {
  return a.op === b.op && a.arg === b.arg;
}

function hasSameRunes(a: Instruction, b: Instruction): boolean {
  if (a.runes.length !== b.runes.length) return false;
  for (let at = 0; at < a.runes.length; at++) if (a.runes[at] !== b.runes[at]) return false;
  return true;
}
