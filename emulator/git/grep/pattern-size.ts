/**
 * Cost of compiling a Unicode class such as `\p{L}`, counted in instructions. `UNICODE_CLASS` is for the first
 * occurrence, `UNICODE_CLASS_COPY` for each further copy.
 */
const UNICODE_CLASS = 400;
const UNICODE_CLASS_COPY = 10;
/** Number of characters whose other letter case RE2 finds in the time of compiling one instruction. */
const FOLDED_AT_ONCE = 20;
/**
 * Maximum number of copies of an expression in nested repetitions, such as `(a{10}){100}`. RE2 refuses a pattern with
 * more copies.
 */
const MAX_COPIES = 1000;

interface Group {
  /**
   * `size`: number of instructions in the group. `last`: number of instructions in its last part. A repetition after
   * that part multiplies only the last part.
   */
  size: number;
  last: number;
}

/**
 * Estimates the number of instructions into which RE2 compiles a pattern. A large pattern takes long to compile, so the
 * estimate is made before compiling. It is more often too high than too low.
 *
 * `{n,m}` makes copies. A Unicode class counts as many instructions, and so does a wide range if case is ignored. The
 * result for an invalid pattern is arbitrary, because RE2 reports the error later.
 */
export function patternSize(pattern: string, ignoreCase: boolean): number {
  const foldsCase = ignoreCase || /\(\?[a-zA-Z]*i/.test(pattern);
  const groups: Group[] = [{ size: 0, last: 0 }];
  // Cost in instructions that repetitions do not multiply.
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
      // Each optional copy in `{n,m}` needs one more instruction than a required copy: the instruction that skips the
      // copy.
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
 * Returns the number of characters in the ranges (such as `a-z`) of a bracket expression. Single characters do not
 * count.
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
