import type { Steps } from '../../schedule/steps.js';
import { bytesOf, concatBytes } from '../object/bytes.js';
import { ZERO_OID } from '../object/object.js';
import { formatMode } from '../object/tree.js';
import { writeBinaryPatch } from './binary-patch.js';
import { ByteSink } from './byte-sink.js';
import type { Change } from './change.js';
import type { FileLines } from './file-lines.js';
import { writeHunks } from './hunks.js';
import { quotePath } from './quoted-path.js';
import type { FileChange } from './renames.js';
import { similarityPercent } from './similarity.js';

const OLD_PREFIX = bytesOf('a/');
const NEW_PREFIX = bytesOf('b/');

export interface PatchOptions {
  /** Number of unchanged lines that are shown before and after each change. The default is 3. */
  readonly context?: number | undefined;
  /** If true, includes the content of binary files in the patch, as `git diff --binary` does. */
  readonly binary?: boolean | undefined;
  /**
   * If true, treats files that are not UTF-8 as binary, so that the patch can be sent as UTF-8 text. Requires `binary`.
   */
  readonly utf8?: boolean | undefined;
}

/** Changed file of a diff, after its old and new contents have been compared. */
export interface ComparedFile extends FileChange {
  /** Old and new content, split into lines. Content that is written as binary need not be split. */
  readonly oldFile: FileLines;
  readonly newFile: FileLines;
  readonly isBinary: boolean;
  readonly changes: readonly Change[];
}

/**
 * Writes the patch of one file, as git-diff(1) describes under "Generating patch text with -p":
 *
 *     diff --git a/<old path> b/<new path>
 *     new file mode, deleted file mode, or old mode and new mode
 *     similarity index, rename from, rename to
 *     index <old id>..<new id>[ <mode>]
 *     --- a/<old path>
 *     +++ b/<new path>
 *     <hunks>
 *
 * The patch is empty if only ignored white space differs.
 */
export function* writePatch(file: ComparedFile, options: PatchOptions): Steps<Buffer> {
  const { before, after, score, oldFile, newFile, isBinary, changes } = file;
  const sink = new ByteSink(Math.max(512, Math.min(1 << 16, oldFile.bytes.length + newFile.bytes.length)));
  const isContentEqual = before?.oid === after?.oid;
  const isBinaryShown = isBinary && !isContentEqual;
  const isNameOrMode = !before || !after || score !== undefined || before.mode !== after.mode;
  if (!isNameOrMode && !isBinaryShown && changes.length === 0) return sink.finish();

  const oldPath = quotePath(concatBytes(OLD_PREFIX, (before ?? after!).path));
  const newPath = quotePath(concatBytes(NEW_PREFIX, (after ?? before!).path));
  const oldLabel = before ? oldPath : '/dev/null';
  const newLabel = after ? newPath : '/dev/null';
  sink.ascii(`diff --git ${oldPath} ${newPath}\n`);
  writeModes(sink, file);
  if (!isContentEqual) writeIndexLine(sink, file);
  if (isBinaryShown) {
    if (options.binary) yield* writeBinaryPatch(sink, oldFile.bytes, newFile.bytes);
    else sink.ascii(`Binary files ${oldLabel} and ${newLabel} differ\n`);
  } else if (changes.length > 0) {
    sink.ascii(`--- ${oldLabel}${tabAfter(oldLabel)}\n+++ ${newLabel}${tabAfter(newLabel)}\n`);
    yield* writeHunks(sink, oldFile, newFile, changes, options.context ?? 3);
  }
  return sink.finish();
}

function writeModes(sink: ByteSink, { before, after, score }: ComparedFile): void {
  if (!before) {
    sink.ascii(`new file mode ${formatMode(after!.mode)}\n`);
  } else if (!after) {
    sink.ascii(`deleted file mode ${formatMode(before.mode)}\n`);
  } else {
    if (before.mode !== after.mode) {
      sink.ascii(`old mode ${formatMode(before.mode)}\nnew mode ${formatMode(after.mode)}\n`);
    }
    if (score !== undefined) {
      sink.ascii(`similarity index ${similarityPercent(score)}%\n`);
      sink.ascii(`rename from ${quotePath(before.path)}\nrename to ${quotePath(after.path)}\n`);
    }
  }
}

function writeIndexLine(sink: ByteSink, { before, after }: ComparedFile): void {
  const mode = before && after && before.mode === after.mode ? ` ${formatMode(after.mode)}` : '';
  sink.ascii(`index ${before?.oid ?? ZERO_OID}..${after?.oid ?? ZERO_OID}${mode}\n`);
}

/**
 * Returns a tab if the file name contains a space, otherwise an empty string. Git writes this tab after the name,
 * because a program that reads the patch could take the text after the space for a date.
 */
function tabAfter(label: string): string {
  return label.includes(' ') ? '\t' : '';
}
