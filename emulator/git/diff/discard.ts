import type { LineInterner, Lines } from './line-interner.js';

/** Lines of one file that take part in the comparison. */
export interface Side {
  readonly ids: Int32Array;
  /** Line numbers of these lines in the file. */
  readonly lines: Int32Array;
  /** Flag per line of the file. The comparison sets it to 1 for changed lines. */
  readonly flags: Uint8Array;
}

/** File in a comparison: its line ids. Lines `head` to `end` lie between the common head and the common tail. */
export interface Middle {
  readonly ids: Int32Array;
  /** Text of the lines; required if the lines of the common head and tail have no ids. */
  readonly text?: Lines | undefined;
  readonly head: number;
  readonly end: number;
  /** Flag per line; 1 marks a changed line. */
  readonly flags: Uint8Array;
}

/** Maximum number of occurrences on the other side. A more frequent line says little about which lines correspond. */
const MAX_FREQUENT = 1024;
/** Maximum distance, in lines, at which unmatched lines are counted around a frequent line. */
const WINDOW = 100;
/** Minimum ratio of unmatched to frequent lines around a frequent line that discards it. */
const UNMATCHED_RATIO = 4;

const NO_LINES = new Int32Array(0);

const UNMATCHED = 0;
const MATCHED = 1;
const FREQUENT = 2;

/**
 * Selects the lines to compare and marks the others as changed (Git's `xdl_cleanup_records`): lines that the other side
 * does not contain, and very frequent lines among such lines. This keeps the comparison short, and Git's result depends
 * on it.
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

/** Also counts the lines of the common head and tail on both sides, if they occur in one of the middles. */
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

/** Returns a power of two near the square root of `value`, computed as Git does (`xdl_bogosqrt`). */
export function roughSquareRoot(value: number): number {
  let root = 1;
  for (let rest = value; rest > 0; rest >>>= 2) root <<= 1;
  return root;
}
