import { hexLines, readBody } from './body.js';
import type { Body, Message } from './entry.js';

/**
 * Two values that are compared: a header of two requests, or a line of two bodies. A value is undefined if one of the
 * requests does not have it.
 */
export interface Pair {
  readonly name: string;
  readonly left: string | undefined;
  readonly right: string | undefined;
}

/**
 * Pairs the headers of two messages by their names, ignoring case. If a name occurs several times, the first
 * occurrences are paired, then the second ones, and so on. The order is that of `left`, followed by headers that only
 * `right` has.
 */
export function pairHeaders(left: Message['headers'], right: Message['headers']): Pair[] {
  const pairs = new Map<string, { name: string; left: string | undefined; right: string | undefined }>();
  for (const [side, headers] of [
    ['left', left],
    ['right', right],
  ] as const) {
    const times = new Map<string, number>();
    for (const [name, value] of headers) {
      const lower = name.toLowerCase();
      const time = times.get(lower) ?? 0;
      times.set(lower, time + 1);
      const key = `${time} ${lower}`;
      const pair = pairs.get(key) ?? { name, left: undefined, right: undefined };
      pair[side] = value;
      pairs.set(key, pair);
    }
  }
  return [...pairs.values()];
}

/**
 * Splits a body into the lines in which the page shows it: indented JSON, text, or a hexadecimal listing. Returns an
 * empty list if the journal has no body.
 */
export function bodyLines(body: Body | undefined): string[] {
  if (body === undefined) return [];
  const shown = readBody(body);
  return (shown.kind === 'binary' ? hexLines(shown.bytes) : shown.text.replace(/\n$/, '')).split('\n');
}

/**
 * Maximum number of cells in the table of `pairLines`, which has two bytes per cell. Larger texts are not aligned: each
 * of their lines is paired with the line at the same position.
 */
const MAX_CELLS = 4_000_000;

/**
 * Aligns the lines of two texts. Equal lines are paired along a longest common subsequence. Between two equal lines,
 * the first different lines of both texts are paired, then the second ones, and so on.
 */
export function pairLines(left: readonly string[], right: readonly string[], maxCells = MAX_CELLS): Pair[] {
  const length = Math.min(left.length, right.length);
  let start = 0;
  while (start < length && left[start] === right[start]) start++;
  let end = 0;
  while (end < length - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end++;
  const inner = alignInner(left.slice(start, left.length - end), right.slice(start, right.length - end), maxCells);
  return [...left.slice(0, start).map(equalPair), ...inner, ...left.slice(left.length - end).map(equalPair)];
}

function equalPair(line: string): Pair {
  return { name: '', left: line, right: line };
}

function alignInner(left: readonly string[], right: readonly string[], maxCells: number): Pair[] {
  const width = right.length + 1;
  if ((left.length + 1) * width > maxCells) return pairByPosition(left, right);
  // Cell (a, b) has the length of the longest common subsequence of the lines from `a` in `left` and from `b` in
  // `right`.
  const lengths = new Uint16Array((left.length + 1) * width);
  for (let a = left.length - 1; a >= 0; a--) {
    for (let b = right.length - 1; b >= 0; b--) {
      lengths[a * width + b] =
        left[a] === right[b]
          ? lengths[(a + 1) * width + b + 1]! + 1
          : Math.max(lengths[(a + 1) * width + b]!, lengths[a * width + b + 1]!);
    }
  }
  const pairs: Pair[] = [];
  let [a, b, fromA, fromB] = [0, 0, 0, 0];
  while (a < left.length && b < right.length) {
    if (left[a] === right[b]) {
      pairs.push(...pairByPosition(left.slice(fromA, a), right.slice(fromB, b)), equalPair(left[a]!));
      fromA = ++a;
      fromB = ++b;
    } else if (lengths[(a + 1) * width + b]! >= lengths[a * width + b + 1]!) a++;
    else b++;
  }
  pairs.push(...pairByPosition(left.slice(fromA), right.slice(fromB)));
  return pairs;
}

function pairByPosition(left: readonly string[], right: readonly string[]): Pair[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, at) => ({
    name: '',
    left: left[at],
    right: right[at],
  }));
}

export function isDifferent({ left, right }: Pair): boolean {
  return left !== right;
}
