/**
 * Line of a patch (diff of one file). `heading` is the header of a hunk (`@@ …`). `remark` is a remark of Git about the
 * line before it, such as `\ No newline at end of file`.
 */
export interface PatchLine {
  readonly kind: 'heading' | 'same' | 'added' | 'removed' | 'remark';
  readonly text: string;
  /**
   * Line number in the old file (`before`) and in the new file (`after`), from 1. Absent if the file does not contain
   * the line.
   */
  readonly before?: number;
  readonly after?: number;
}

/**
 * Pattern for the header of a hunk, such as `@@ -1,2 +1,3 @@ function name() {`. Its four groups are the first line and
 * the number of lines, for the old file and then for the new file. Git omits a number of lines that is 1.
 */
const HEADING = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/**
 * Parses the patch of one file, as `git diff` prints it. The line counts in the header of a hunk determine where the
 * hunk ends, because a line of a file can look like a header.
 */
export function readPatch(patch: string): PatchLine[] {
  const lines = patch.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const read: PatchLine[] = [];
  let [before, after, beforeLeft, afterLeft] = [0, 0, 0, 0];
  for (const line of lines) {
    if (beforeLeft > 0 || afterLeft > 0) {
      const text = line.slice(1);
      if (line.startsWith('+')) {
        read.push({ kind: 'added', text, after: after++ });
        afterLeft--;
      } else if (line.startsWith('-')) {
        read.push({ kind: 'removed', text, before: before++ });
        beforeLeft--;
      } else if (line.startsWith('\\')) {
        read.push({ kind: 'remark', text: text.trim() });
      } else {
        read.push({ kind: 'same', text, before: before++, after: after++ });
        beforeLeft--;
        afterLeft--;
      }
      continue;
    }
    const heading = HEADING.exec(line);
    if (heading) {
      [before, after] = [Number(heading[1]), Number(heading[3])];
      [beforeLeft, afterLeft] = [Number(heading[2] ?? 1), Number(heading[4] ?? 1)];
      read.push({ kind: 'heading', text: line });
    } else if (line.startsWith('\\') && read.length > 0) {
      read.push({ kind: 'remark', text: line.slice(1).trim() });
    }
  }
  return read;
}
