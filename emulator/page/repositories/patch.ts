/** A line of a patch. `heading`: where a hunk is; `told`: what Git says of the line before, as that it has no end. */
export interface PatchLine {
  readonly kind: 'heading' | 'same' | 'added' | 'removed' | 'told';
  readonly text: string;
  /** Numbers of the line in the file as it was and as it is, from 1. */
  readonly before?: number;
  readonly after?: number;
}

/** `@@ -1,2 +1,3 @@ function name() {`; a count of 1 is left out. */
const HEADING = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** The lines of the hunks of `git diff` of one file. A line is told by its place, since any text can stand in it. */
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
