/** Cost of reading a Unicode class, and of each copy, in instructions. */
const UNICODE_CLASS = 400;
const UNICODE_CLASS_COPY = 10;
/** Number of characters of a range that are case-folded in the time of one instruction. */
const FOLDED_AT_ONCE = 20;
/** RE2 itself refuses nested repetitions with more copies. */
const MAX_COPIES = 1000;

interface Group {
  /** Number of instructions in the group, and of its last part, which a repetition would multiply. */
  size: number;
  last: number;
}

/**
 * Estimates the number of instructions that RE2 compiles a pattern to, rather too high than too low, because the cost
 * must be known before compiling. `{n,m}` makes copies; a Unicode class, or a wide range with case folding, counts as
 * many instructions. The result for an invalid pattern is arbitrary; RE2 reports the error.
 */
export function patternSize(pattern: string, ignoreCase: boolean): number {
  const foldsCase = ignoreCase || /\(\?[a-zA-Z]*i/.test(pattern);
  const groups: Group[] = [{ size: 0, last: 0 }];
  // Cost that does not depend on the number of copies.
  let once = 0;
  let group = groups[0]!;
  const add = (size: number): void => {
    group.size += size;
    group.last = size;
  };
  const token =
    /\\Q(?<quoted>[\s\S]*?)(?:\\E|$)|\\[pP](?:\{[^}]*\}|.)?|\\(?:x\{[^}]*\}|[\s\S])?|\{(?<least>\d+)(?<comma>,)?(?<most>\d*)\}|\[(?<set>\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*)\]?|[\s\S]/gu;
  for (const { 0: text, groups: named } of pattern.matchAll(token)) {
    if (named?.quoted !== undefined) add(named.quoted.length);
    else if (named?.set !== undefined) {
      const classes = named.set.match(/\\[pP]/g)?.length ?? 0;
      once += classes * UNICODE_CLASS + (foldsCase ? foldedCharacters(named.set) / FOLDED_AT_ONCE : 0);
      add(1 + classes * UNICODE_CLASS_COPY + named.set.length / 8);
    } else if (/^\\[pP]/.test(text)) {
      once += UNICODE_CLASS;
      add(1 + UNICODE_CLASS_COPY);
    } else if (named?.least !== undefined) {
      // Each optional copy needs one more instruction.
      const min = Math.min(Number(named.least), MAX_COPIES);
      const open = named.comma === undefined ? 0 : Math.max(1, Math.min(Number(named.most), MAX_COPIES) - min);
      const size = group.last * min + (group.last + 1) * open;
      group.size += size - group.last;
      group.last = size;
    } else if (text === '(') {
      group = { size: 2, last: 0 };
      groups.push(group);
    } else if (text === ')' && groups.length > 1) {
      const { size } = groups.pop()!;
      group = groups.at(-1)!;
      add(size);
    } else if (text === '*' || text === '+' || text === '?') {
      group.size += 1;
      group.last += 1;
    } else add(1);
  }
  return once + groups.reduce((total, { size }) => total + size, 0);
}

/** Returns the number of characters in the ranges of a set. */
function foldedCharacters(set: string): number {
  let count = 0;
  for (const [, first, last] of set.matchAll(/(\\x\{[^}]*\}|\\x..|\\?[\s\S])-(\\x\{[^}]*\}|\\x..|\\?[\s\S])/gu)) {
    count += Math.max(0, codeOf(last!) - codeOf(first!));
  }
  return count;
}

function codeOf(character: string): number {
  const digits = /^\\x\{?([0-9A-Fa-f]+)/.exec(character)?.[1];
  return digits === undefined ? character.replace(/^\\(?=.)/u, '').codePointAt(0)! : Number.parseInt(digits, 16);
}
