import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { ByteSink } from '../diff/byte-sink.js';
import type { TextHunk } from './file-patch.js';
import type { LineReader } from './line-reader.js';
import { PatchError } from './patch-error.js';

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
/** Number of lines read between two yields to the event loop. */
const UNIT = 4096;
const LF = 10;
const SPACE = 0x20;
const PLUS = 0x2b;
const MINUS = 0x2d;
const BACKSLASH = 0x5c;

export function isHunkHeader(lines: LineReader): boolean {
  return lines.isComplete && HEADER.test(lines.text);
}

/**
 * Reads one hunk of a text patch and moves the reader past it. A hunk has this form:
 *
 *     @@ -<old start>[,<old lines>] +<new start>[,<new lines>] @@ <anything>
 *     lines that begin with a space, `-` or `+`; `\ No newline at end of file` belongs to the previous line
 *
 * The numbers of lines must be correct, and at least one line must change. Throws `PatchError`.
 */
export function* readTextHunk(lines: LineReader): Steps<TextHunk> {
  const first = lines.number;
  const header = lines.isComplete ? HEADER.exec(lines.text) : null;
  if (!header) throw corrupt(first);
  const [oldStart, oldCount, newCount] = [1, 2, 4].map((group) => Number(header[group] ?? 1));
  lines.next();
  const before = new ByteSink();
  const after = new ByteSink();
  const oldBreaks: number[] = [];
  let oldLeft = oldCount!;
  let newLeft = newCount!;
  let newLines = 0;
  let trailing = 0;
  let isChanged = false;
  while (oldLeft > 0 || newLeft > 0) {
    if (lines.number % UNIT === 0) yield UNIT * COST.line;
    if (!lines.isComplete) throw corrupt(first);
    const mark = lines.bytes[lines.start]!;
    // An empty line counts as unchanged, because some tools omit the space before an empty unchanged line.
    const isOld = mark === SPACE || mark === MINUS || mark === LF;
    const isNew = mark === SPACE || mark === PLUS || mark === LF;
    if (mark === BACKSLASH) {
      if (!isNoNewline(lines)) throw corrupt(first);
    } else if ((!isOld && !isNew) || (isOld && oldLeft-- === 0) || (isNew && newLeft-- === 0)) {
      throw corrupt(first);
    }
    const { start, end } = lines;
    lines.next();
    if (mark === BACKSLASH) continue;
    const isLast = oldLeft === 0 && newLeft === 0;
    const hasNewline = !(isLast ? endsHunk(lines) : lines.startsWith('\\'));
    trailing = isOld && isNew ? trailing + 1 : 0;
    isChanged ||= isOld !== isNew;
    // An empty line without its leading space consists only of its line feed. If the line feed does not count, there is
    // nothing to add.
    if (mark === LF && !hasNewline) continue;
    const from = mark === LF ? start : start + 1;
    const to = hasNewline ? end : end - 1;
    if (isOld) before.slice(lines.bytes, from, to);
    if (isOld && !hasNewline) oldBreaks.push(before.length);
    if (isNew) after.slice(lines.bytes, from, to);
    if (isNew) newLines++;
  }
  if (!isChanged) throw corrupt(first);
  if (endsHunk(lines)) lines.next();
  return {
    oldStart: oldStart!,
    above: linesAbove(header[3]!),
    oldText: before.finish(),
    newText: after.finish(),
    oldCount: oldCount!,
    newCount: newCount!,
    newLines,
    oldBreaks,
    trailing,
  };
}

/**
 * Returns true for the line "\ No newline at end of file". Only its start and its length are checked, because the text
 * may be translated.
 */
function isNoNewline(lines: LineReader): boolean {
  return lines.startsWith('\\ ') && lines.length >= 12;
}

/**
 * Returns true for the line "\ No newline at end of file" after a hunk. As in Git, the line may be shorter than
 * `isNoNewline` requires, if more of the patch follows it.
 */
function endsHunk(lines: LineReader): boolean {
  return lines.startsWith('\\ ') && lines.left > 12;
}

/**
 * Returns the number of lines before a hunk, given the start line in its header. Git parses this number with 64 bits
 * and keeps 32 of them, so a number that overflows gives the same result as in Git.
 */
function linesAbove(start: string): number {
  const digits = start.replace(/^0+/, '');
  if (digits === '') return 0;
  const value = digits.length > 20 ? LARGEST : BigInt(digits);
  const above = Number(BigInt.asIntN(32, (value > LARGEST ? LARGEST : value) - 1n));
  return above < 0 ? Number.POSITIVE_INFINITY : above;
}

const LARGEST = (1n << 64n) - 1n;

function corrupt(line: number): PatchError {
  return new PatchError('malformed', `corrupt patch at line ${line}`);
}
