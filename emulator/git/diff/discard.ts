import type { LineInterner, Lines } from './line-interner.js';

/** The lines of one file that take part in the search. */
export interface Side {
  readonly ids: Int32Array;
  /** Where in the file each of them is. */
  readonly lines: Int32Array;
  /** One per line of the file; the search sets 1 for changed lines. */
  readonly flags: Uint8Array;
}

/** One file in the comparison: its line ids, of which those from `head` to `end` lie between the common ends. */
export interface Middle {
  readonly ids: Int32Array;
  /** The lines themselves; needed where those of the common ends have no ids. */
  readonly text?: Lines | undefined;
  readonly head: number;
  readonly end: number;
  /** One per line; 1 marks a changed line. */
  readonly flags: Uint8Array;
}

/** How often a line may occur on the other side before it says little about what belongs together. */
const MAX_FREQUENT = 1024;
/** How far around a frequent line the search for unmatched ones goes. */
const WINDOW = 100;
/** A frequent line goes when the lines around it that match nowhere are this many times the frequent ones. */
const UNMATCHED_RATIO = 4;

const NO_LINES = new Int32Array(0);

const UNMATCHED = 0;
const MATCHED = 1;
const FREQUENT = 2;

/**
 * Picks the lines worth comparing and marks the others as changed: those the other side does not have,
 * and very frequent ones amid such. This is what keeps the search short, and part of what Git's result is.
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

/** Counts lines of the common ends too, on both sides, as far as they are in one of the middles. */
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

/** A power of two near the square root of `value`, as Git reckons it. */
export function roughSquareRoot(value: number): number {
  let root = 1;
  for (let rest = value; rest > 0; rest >>>= 2) root <<= 1;
  return root;
}
