import { highlight, type Token } from './highlight.js';
import type { PatchLine } from './patch.js';

/*
 * Syntax highlighting of patches. The page loads this module, with the highlighter, only when the user opens a patch.
 */

/**
 * Maximum number of UTF-16 code units of a highlighted patch. A larger patch is shown without colours, because
 * highlighting it would block the browser.
 */
const MAX_CHARACTERS = 200_000;

/** Names of the file before and after the change. They differ if the file was renamed. */
export interface FileNames {
  readonly path: string;
  readonly oldPath: string;
}

/**
 * Returns the coloured parts of each line of a patch. A line without colours is undefined. So are all lines if the
 * language is unknown or the patch is too large.
 *
 * A patch contains lines of two files. Each hunk is therefore highlighted twice: once without its added lines, as a
 * part of the old file, and once without its removed lines. A comment of several lines has one colour then. If a hunk
 * begins inside a comment, the highlighter does not know this.
 */
export function highlightPatch(lines: readonly PatchLine[], { path, oldPath }: FileNames): (Token[] | undefined)[] {
  const found = new Array<Token[] | undefined>(lines.length).fill(undefined);
  if (lines.reduce((sum, { text }) => sum + text.length, 0) > MAX_CHARACTERS) return found;
  for (const hunk of hunksOf(lines)) {
    // The new file comes last, because the unchanged lines belong to both files.
    for (const [name, kind] of [
      [oldPath, 'removed'],
      [path, 'added'],
    ] as const) {
      const own = hunk.filter((at) => lines[at]!.kind === 'same' || lines[at]!.kind === kind);
      const tokens = highlight(name, own.map((at) => lines[at]!.text).join('\n'));
      for (const [index, at] of own.entries()) found[at] = tokens?.[index] ?? found[at];
    }
  }
  return found;
}

/** Returns the indexes of the lines of each hunk, without its heading. */
function hunksOf(lines: readonly PatchLine[]): number[][] {
  const hunks: number[][] = [];
  for (const [at, { kind }] of lines.entries()) {
    if (kind === 'heading') hunks.push([]);
    else hunks.at(-1)?.push(at);
  }
  return hunks;
}
