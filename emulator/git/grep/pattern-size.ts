/**
 * Cost of compiling a Unicode class such as `\p{L}`, counted in instructions: for the first time, and for each further
 * copy.
 */
const UNICODE_CLASS = 400;
const UNICODE_CLASS_COPY = 10;
/** Number of characters whose other letter case RE2 finds in the time in which it compiles one instruction. */
const FOLDED_AT_ONCE = 20;
/**
 * Maximum number of copies of an expression that RE2 allows in repetitions, such as `(a{10}){100}`. It refuses a
 * pattern with more.
 */
const MAX_COPIES = 1000;

interface Group {
  /**
   * Number of instructions in the group (`size`), and in its last part (`last`). A repetition that follows multiplies
   * only the last part.
   */
  size: number;
  last: number;
}

/**
 * Estimates the number of instructions into which RE2 compiles a pattern. The estimate is made before compiling,
 * because compiling a large pattern takes long. It is rather too high than too low.
 *
 * `{n,m}` makes copies. A Unicode class, or a wide range if case is ignored, counts as many instructions. The result
 * for an invalid pattern is arbitrary, because RE2 reports the error later.
 */
export function patternSize(pattern: string, ignoreCase: boolean): number {
  const foldsCase = ignoreCase || /\(\?[a-zA-Z]*i/.test(pattern);
  const groups: Group[] = [{ size: 0, last: 0 }];
  // Cost, in instructions, that does not grow with the number of copies that a repetition makes.
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
      // Each optional copy of `{n,m}` needs one instruction more than a required copy: the instruction that skips it.
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

/**
 * Returns the number of characters in the ranges (such as `a-z`) of a bracket expression. Single characters are not
 * counted.
 */
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
