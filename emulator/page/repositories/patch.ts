/**
 * Line of a patch. `heading`: header of a hunk (`@@ …`). `told`: a remark of Git about the previous line, such as
 * `\ No newline at end of file`.
 */
export interface PatchLine {
  readonly kind: 'heading' | 'same' | 'added' | 'removed' | 'told';
  readonly text: string;
  /** Line number in the old and in the new file, from 1. */
  readonly before?: number;
  readonly after?: number;
}

/** Header of a hunk: `@@ -1,2 +1,3 @@ function name() {`. Git omits a number of lines that is 1. */
const HEADING = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/**
 * Parses the hunks of a `git diff` of one file. The numbers of lines in a hunk's header determine where the hunk ends,
 * because a line of a file can look like a header.
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
        read.push({ kind: 'told', text: text.trim() });
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
      read.push({ kind: 'told', text: line.slice(1).trim() });
    }
  }
  return read;
}
