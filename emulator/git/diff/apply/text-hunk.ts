import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { ByteSink } from '../byte-sink.js';
import type { TextHunk } from './file-patch.js';
import type { LineReader } from './line-reader.js';
import { PatchError } from './patch-error.js';

const HEADER = /^@@ -(\d{1,15})(?:,(\d{1,15}))? \+(\d{1,15})(?:,(\d{1,15}))? @@/;
/** Lines read between two steps. */
const UNIT = 4096;
const LF = 10;
const SPACE = 0x20;
const PLUS = 0x2b;
const MINUS = 0x2d;
const BACKSLASH = 0x5c;

export function isHunkHeader(line: string): boolean {
  return HEADER.test(line);
}

/**
 * Reads one hunk and leaves the reader behind it:
 *
 *     @@ -<old start>[,<old lines>] +<new start>[,<new lines>] @@ <anything>
 *     lines behind a space, `-` or `+`; `\ No newline at end of file` belongs to the line before it
 *
 * The counts have to be right, and something has to change. Works in steps. Throws `PatchError`.
 */
export function* readTextHunk(lines: LineReader): Steps<TextHunk> {
  const first = lines.number;
  const header = lines.isComplete ? HEADER.exec(lines.text) : null;
  if (!header) throw corrupt(first);
  const [oldStart, oldCount, newStart, newCount] = [1, 2, 3, 4].map((group) => Number(header[group] ?? 1));
  lines.next();
  const before = new ByteSink();
  const after = new ByteSink();
  let oldLeft = oldCount!;
  let newLeft = newCount!;
  let trailing = 0;
  let isChanged = false;
  for (; oldLeft > 0 || newLeft > 0; lines.next()) {
    if (lines.number % UNIT === 0) yield UNIT * COST.line;
    if (!lines.isComplete) throw corrupt(first);
    const mark = lines.bytes[lines.start]!;
    if (mark === BACKSLASH) {
      if (!isNoNewline(lines)) throw corrupt(first);
      continue;
    }
    // Some tools write an empty unchanged line without its space.
    const isOld = mark === SPACE || mark === MINUS || mark === LF;
    const isNew = mark === SPACE || mark === PLUS || mark === LF;
    if ((!isOld && !isNew) || (isOld && oldLeft-- === 0) || (isNew && newLeft-- === 0)) throw corrupt(first);
    const start = mark === LF ? lines.start : lines.start + 1;
    const end = lines.nextStartsWith('\\') ? lines.end - 1 : lines.end;
    if (isOld) before.slice(lines.bytes, start, end);
    if (isNew) after.slice(lines.bytes, start, end);
    trailing = isOld && isNew ? trailing + 1 : 0;
    isChanged ||= isOld !== isNew;
  }
  if (!isChanged) throw corrupt(first);
  if (isNoNewline(lines)) lines.next();
  return {
    oldStart: oldStart!,
    newStart: newStart!,
    oldText: before.finish(),
    newText: after.finish(),
    oldCount: oldCount!,
    trailing,
  };
}

/** Only the start of the line is the same in every language. */
function isNoNewline(lines: LineReader): boolean {
  return lines.startsWith('\\ ') && lines.end - lines.start >= 12;
}

function corrupt(line: number): PatchError {
  return new PatchError('malformed', `corrupt patch at line ${line}`);
}
