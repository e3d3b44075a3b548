import type { Lines } from './line-interner.js';
import { isSpace } from './white-space.js';

/**
 * Score of a position at which a block of changed lines could begin or end. A lower score is better. It prefers
 * positions where the indentation suggests the start of a block of code. Corresponds to Git's `struct split_score`
 * (`xdiff/xdiffi.c`).
 */
export interface SplitScore {
  readonly indent: number;
  readonly penalty: number;
}

const BLANK = -1;
const MAX_INDENT = 200;
const MAX_BLANKS = 20;

/**
 * Weights that Git derived from a corpus of hand-rated diffs. They must have exactly these values, because the output
 * of `git diff` depends on them.
 */
const START_OF_FILE = 1;
const END_OF_FILE = 21;
const PER_BLANK_LINE = -30;
const PER_BLANK_LINE_BELOW = 6;
/**
 * Penalties for a position between two lines with different indentation. The first number applies without blank lines
 * next to the position, the second with blank lines.
 */
const INDENTED = [-4, 10] as const;
const OUTDENTED = [24, 17] as const;
const DEDENTED = [23, 17] as const;
const INDENT_WEIGHT = 60;

export function compareSplits(a: SplitScore, b: SplitScore): number {
  return INDENT_WEIGHT * Math.sign(a.indent - b.indent) + (a.penalty - b.penalty);
}

/** Returns the score of the position before line `at`. Only the first `count` lines of the file are considered. */
export function scoreSplit(lines: Lines, count: number, at: number): SplitScore {
  const ownIndent = at < count ? indentOf(lines, at) : BLANK;
  const above = nearestIndent(lines, at - 1, -1, -1);
  const below = nearestIndent(lines, at + 1, count, 1);

  let penalty = 0;
  if (above.indent === BLANK && above.blanks === 0) penalty += START_OF_FILE;
  if (at >= count) penalty += END_OF_FILE;
  const blanksBelow = ownIndent === BLANK ? 1 + below.blanks : 0;
  const blanks = above.blanks + blanksBelow;
  penalty += PER_BLANK_LINE * blanks + PER_BLANK_LINE_BELOW * blanksBelow;

  const indent = ownIndent === BLANK ? below.indent : ownIndent;
  if (indent !== BLANK && above.indent !== BLANK && indent !== above.indent) {
    const withBlanks = blanks === 0 ? 0 : 1;
    if (indent > above.indent) penalty += INDENTED[withBlanks];
    else if (below.indent !== BLANK && below.indent > indent) penalty += OUTDENTED[withBlanks];
    else penalty += DEDENTED[withBlanks];
  }
  return { indent, penalty };
}

/**
 * Returns the indentation of the nearest line with text, and the number of blank lines before it. The search starts at
 * line `at` and goes downwards (`step` 1) or upwards (`step` -1). It ends before line `end`; the indentation is then
 * `BLANK`.
 */
function nearestIndent(lines: Lines, at: number, end: number, step: 1 | -1): { indent: number; blanks: number } {
  let blanks = 0;
  for (let line = at; step > 0 ? line < end : line > end; line += step) {
    const indent = indentOf(lines, line);
    if (indent !== BLANK) return { indent, blanks };
    blanks++;
    if (blanks === MAX_BLANKS) return { indent: 0, blanks };
  }
  return { indent: BLANK, blanks };
}

/**
 * Returns the indentation of a line in columns, with tab stops every 8 columns. Returns `BLANK` if the line contains
 * only white space.
 */
function indentOf(lines: Lines, line: number): number {
  const { bytes, starts } = lines;
  const end = starts[line + 1]!;
  let indent = 0;
  for (let at = starts[line]!; at < end; at++) {
    const byte = bytes[at]!;
    if (!isSpace(byte)) return indent;
    if (byte === 32) indent++;
    else if (byte === 9) indent += 8 - (indent % 8);
    if (indent >= MAX_INDENT) return MAX_INDENT;
  }
  return BLANK;
}
