import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { type ByteString, bytesIn, NO_BYTES } from '../object/bytes.js';
import type { ByteSink } from './byte-sink.js';
import type { Change } from './change.js';
import { type FileLines, lineCount } from './file-lines.js';
import { wellFormedEnd } from './utf8.js';
import { isSpace } from './white-space.js';

/** Number of lines that are written between two yields to the event loop. */
const UNIT = 4096;
/**
 * Maximum length in bytes of the heading after `@@` in a hunk header. The heading also ends before bytes that are not
 * UTF-8.
 */
const HEADING_BYTES = 80;
const SPACE = 0x20;
const MINUS = 0x2d;
const PLUS = 0x2b;
const NEWLINE = 10;

/**
 * Writes the changes as hunks of the unified format, each with `context` unchanged lines around it:
 *
 *     @@ -<old start>[,<old lines>] +<new start>[,<new lines>] @@[ <heading>]
 *
 * The lines of the hunk follow, each after a space (unchanged), `-` or `+`. Unchanged lines come from the new file. If
 * the number of lines is 1, it is omitted. Start lines count from 1. If the number of lines is 0, the start is the line
 * before the hunk. The heading is the nearest line above the hunk that starts with a letter, `_` or `$`.
 */
export function* writeHunks(
  sink: ByteSink,
  oldLines: FileLines,
  newLines: FileLines,
  changes: readonly Change[],
  context: number,
): Steps<void> {
  let heading = NO_BYTES;
  let searched = -1;
  for (let from = 0; from < changes.length; ) {
    let to = from + 1;
    while (to < changes.length && changes[to]!.oldStart - oldEnd(changes[to - 1]!) <= 2 * context) to++;
    const first = changes[from]!;
    const last = changes[to - 1]!;
    const before = Math.min(context, first.oldStart, first.newStart);
    const after = Math.min(context, lineCount(oldLines) - oldEnd(last), lineCount(newLines) - newEnd(last));
    const oldStart = first.oldStart - before;
    const newStart = first.newStart - before;

    heading = headingAbove(oldLines, oldStart - 1, searched) ?? heading;
    searched = oldStart - 1;
    const oldRange = rangeText(oldStart, oldEnd(last) + after - oldStart);
    const newRange = rangeText(newStart, newEnd(last) + after - newStart);
    sink.ascii(`@@ -${oldRange} +${newRange} @@${heading === '' ? '' : ' '}`);
    sink.bytes(heading);
    sink.byte(NEWLINE);

    let newAt = newStart;
    for (let at = from; at < to; at++) {
      const change = changes[at]!;
      yield* writeLines(sink, SPACE, newLines, newAt, change.newStart);
      yield* writeLines(sink, MINUS, oldLines, change.oldStart, oldEnd(change));
      yield* writeLines(sink, PLUS, newLines, change.newStart, newEnd(change));
      newAt = newEnd(change);
    }
    yield* writeLines(sink, SPACE, newLines, newAt, newAt + after);
    from = to;
  }
}

function oldEnd(change: Change): number {
  return change.oldStart + change.oldCount;
}

function newEnd(change: Change): number {
  return change.newStart + change.newCount;
}

function rangeText(start: number, count: number): string {
  const first = count === 0 ? start : start + 1;
  return count === 1 ? `${first}` : `${first},${count}`;
}

function* writeLines(sink: ByteSink, mark: number, lines: FileLines, from: number, to: number): Steps<void> {
  for (let line = from; line < to; line++) {
    if (line % UNIT === UNIT - 1) yield UNIT * COST.line;
    sink.byte(mark);
    sink.slice(lines.bytes, lines.starts[line]!, lines.starts[line + 1]!);
  }
  if (to > from && lines.bytes[lines.starts[to]! - 1] !== NEWLINE) sink.ascii('\n\\ No newline at end of file\n');
}

/**
 * Returns the heading of a hunk: the text of the nearest line above it that starts with a letter, `_` or `$`. Returns
 * undefined if absent between line `from` and line `limit` (exclusive), searched upwards. The caller has already
 * searched from line `limit` upwards.
 */
function headingAbove({ bytes, starts }: FileLines, from: number, limit: number): ByteString | undefined {
  for (let line = from; line > limit && line >= 0; line--) {
    const start = starts[line]!;
    if (!startsHeading(bytes[start]!)) continue;
    let end = Math.min(starts[line + 1]!, start + HEADING_BYTES);
    while (end > start && isSpace(bytes[end - 1]!)) end--;
    return bytesIn(bytes, start, wellFormedEnd(bytes, start, end));
  }
  return undefined;
}

function startsHeading(byte: number): boolean {
  const letter = byte | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || byte === 0x5f || byte === 0x24;
}
