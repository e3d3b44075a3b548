import type { LineInterner, Lines } from './line-interner.js';

/** Lines of a file that take part in the comparison with another file. Other lines of the file are left out. */
export interface Side {
  readonly ids: Int32Array;
  /** Line numbers, in the whole file, of the lines in `ids`. */
  readonly lines: Int32Array;
  /** One flag per line of the whole file. The comparison sets the flag of a changed line to 1. */
  readonly flags: Uint8Array;
}

/**
 * One of two files to compare, with an id per line; equal lines have equal ids. Lines before `head` and lines from
 * `end` on are equal in both files. Only the lines between them are compared.
 */
export interface Middle {
  readonly ids: Int32Array;
  /**
   * Text of the lines. Required if the equal lines at the start and end of the files have no ids, because these lines
   * are counted too.
   */
  readonly text?: Lines | undefined;
  readonly head: number;
  readonly end: number;
  /** One flag per line of the file, set to 1 if the line is changed. */
  readonly flags: Uint8Array;
}

/**
 * Number of occurrences in the other file that always makes a line frequent. A frequent line says little about which
 * lines correspond.
 */
const MAX_FREQUENT = 1024;
/**
 * Distance in lines around a frequent line within which unmatched lines are counted. An unmatched line does not occur
 * in the other file.
 */
const WINDOW = 100;
/**
 * Ratio above which a frequent line is left out of the comparison. Its numerator is the number of unmatched and
 * frequent lines nearby, its denominator the number of frequent lines among them.
 */
const UNMATCHED_RATIO = 4;

const NO_LINES = new Int32Array(0);

const UNMATCHED = 0;
const MATCHED = 1;
const FREQUENT = 2;

/**
 * Selects the lines of two files to compare, and marks all others as changed (Git's `xdl_cleanup_records`). It leaves
 * out lines that the other file does not contain, and frequent lines surrounded by such lines. This makes the
 * comparison shorter.
 *
 * The selection must be exactly Git's, because the result of the diff depends on it.
 */
export function selectCandidates(interner: LineInterner, a: Middle, b: Middle): [Side, Side] {
  const [inA, inB] = interner.occurrences();
  for (let at = a.head; at < a.end; at++) inA[a.ids[at]!]!++;
  for (let at = b.head; at < b.end; at++) inB[b.ids[at]!]!++;
  const isShared = hasShared(a, inB);
  if (isShared) countEnds(interner, a, inA, inB);
  const sides: [Side, Side] = isShared ? [select(a, inB), select(b, inA)] : [selectNone(a), selectNone(b)];
  for (const { ids, head, end } of [a, b]) {
    for (let at = head; at < end; at++) {
      inA[ids[at]!] = 0;
      inB[ids[at]!] = 0;
    }
  }
  return sides;
}

function hasShared({ ids, head, end }: Middle, elsewhere: Int32Array): boolean {
  for (let at = head; at < end; at++) if (elsewhere[ids[at]!] !== 0) return true;
  return false;
}

/**
 * Counts the equal lines at the start and end of the files, if they also occur in a compared part. Git counts these
 * lines too, and the counts decide which lines are frequent.
 */
function countEnds(interner: LineInterner, a: Middle, inA: Int32Array, inB: Int32Array): void {
  const { ids, text } = a;
  const count = (line: number) => {
    let id = ids[line]!;
    if (id < 0) id = interner.find(text!, line);
    if (id < 0 || (inA[id] === 0 && inB[id] === 0)) return;
    inA[id]!++;
    inB[id]!++;
  };
  for (let line = 0; line < a.head; line++) count(line);
  for (let line = a.end; line < ids.length; line++) count(line);
}

function selectNone({ head, end, flags }: Middle): Side {
  flags.fill(1, head, end);
  return { ids: NO_LINES, lines: NO_LINES, flags };
}

function select(file: Middle, elsewhere: Int32Array): Side {
  const { ids, head, end, flags } = file;
  const limit = Math.min(roughSquareRoot(ids.length), MAX_FREQUENT);
  const kinds = new Uint8Array(end - head);
  for (let at = head; at < end; at++) {
    const times = elsewhere[ids[at]!]!;
    kinds[at - head] = times === 0 ? UNMATCHED : times >= limit ? FREQUENT : MATCHED;
  }
  const lines = new Int32Array(end - head);
  const kept = new Int32Array(end - head);
  let count = 0;
  for (let at = 0; at < kinds.length; at++) {
    const kind = kinds[at]!;
    if (kind === MATCHED || (kind === FREQUENT && !isAmidUnmatched(kinds, at))) {
      lines[count] = head + at;
      kept[count++] = ids[head + at]!;
    } else {
      flags[head + at] = 1;
    }
  }
  return { ids: kept.subarray(0, count), lines: lines.subarray(0, count), flags };
}

function isAmidUnmatched(kinds: Uint8Array, at: number): boolean {
  let unmatched = 0;
  let frequent = 1;
  for (let before = at - 1; before >= Math.max(0, at - WINDOW); before--) {
    if (kinds[before] === UNMATCHED) unmatched++;
    else if (kinds[before] === FREQUENT) frequent++;
    else break;
  }
  if (unmatched === 0) return false;
  const unmatchedBefore = unmatched;
  frequent++;
  for (let after = at + 1; after <= Math.min(kinds.length - 1, at + WINDOW); after++) {
    if (kinds[after] === UNMATCHED) unmatched++;
    else if (kinds[after] === FREQUENT) frequent++;
    else break;
  }
  if (unmatched === unmatchedBefore) return false;
  return frequent * UNMATCHED_RATIO < frequent + unmatched;
}

/**
 * Returns a power of two near the square root of `value`. It must equal the result of Git's `xdl_bogosqrt`, because
 * diffs depend on it.
 */
export function roughSquareRoot(value: number): number {
  let root = 1;
  for (let rest = value; rest > 0; rest >>>= 2) root <<= 1;
  return root;
}
