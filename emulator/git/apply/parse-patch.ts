import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { NO_BYTES, startsWithAt, textOf } from '../object/bytes.js';
import { readBinaryHunk } from './binary-hunk.js';
import { FilePatch } from './file-patch.js';
import { readGitHeader } from './git-header.js';
import { LineReader, type LineRest } from './line-reader.js';
import { CorruptBinaryPatch, PatchError } from './patch-error.js';
import { isHunkHeader, readTextHunk } from './text-hunk.js';
import { isWithoutFolders, readTraditionalHeader } from './traditional-header.js';

/** Number of lines skipped between two yields to the event loop. */
const UNIT = 4096;

/**
 * Parses a patch as `git apply` does. A patch has any number of files. Each has a Git header or a traditional header
 * (`---` and `+++` followed by a hunk), and then its hunks. Other text is skipped. An empty patch has no files. Throws
 * `PatchError`.
 *
 * As in Git, invalid data of a binary file ends the patch, as if it were trailing text. The files before it are
 * returned, if any.
 */
export function* parsePatch(bytes: Buffer): Steps<FilePatch[]> {
  const lines = new LineReader(bytes);
  const files: FilePatch[] = [];
  try {
    for (let strip: number | undefined = 1; ; ) {
      const patch = new FilePatch();
      strip = yield* findHeader(lines, strip, patch);
      if (strip === undefined) return files;
      yield* readContent(lines, patch);
      files.push(patch);
    }
  } catch (error) {
    if (error instanceof CorruptBinaryPatch && files.length > 0) return files;
    throw error;
  }
}

/** Minimum length in bytes of a header line, and of the text after it. */
const SHORTEST_LINE = 6;
/** Length in bytes of the shortest hunk header: `@@ -0,0 +1 @@` with its line feed. */
const SHORTEST_HUNK_HEADER = 14;

/**
 * Reads the next file header into `patch` and moves the reader past it. Returns the number of leading folders, such as
 * `a/`, to remove from names in this and later files; undefined at the end of the patch.
 */
function* findHeader(lines: LineReader, strip: number, patch: FilePatch): Steps<number | undefined> {
  while (!lines.isDone) {
    if (lines.number % UNIT === 0) yield UNIT * COST.line;
    if (lines.length < SHORTEST_LINE) {
      lines.next();
      continue;
    }
    if (lines.startsWith('@@ -') && isHunkHeader(lines)) {
      const text = lines.text.slice(0, 100);
      throw new PatchError('malformed', `patch fragment without header at line ${lines.number}: ${text}`);
    }
    if (lines.left < lines.length + SHORTEST_LINE) return undefined;
    if (lines.startsWith('diff --git ')) {
      if (yield* readGitHeader(lines, strip, patch)) return strip;
    } else if (isTraditionalHeader(lines)) {
      const { number } = lines;
      const first = takeName(lines);
      const second = takeName(lines);
      const nextStrip = isWithoutFolders(second) ? 0 : strip;
      readTraditionalHeader(patch, first, second, nextStrip, number);
      return nextStrip;
    } else {
      lines.next();
    }
  }
  return undefined;
}

function isTraditionalHeader(lines: LineReader): boolean {
  if (!lines.startsWith('--- ') || !lines.nextStartsWith('+++ ')) return false;
  const hunk = lines.secondNext();
  return lines.left >= hunk - lines.end + SHORTEST_HUNK_HEADER && startsWithAt(lines.bytes, hunk, '@@ -');
}

function takeName(lines: LineReader): LineRest {
  const name = lines.rest(4);
  lines.next();
  return name;
}

function* readContent(lines: LineReader, patch: FilePatch): Steps<void> {
  yield* readHunks(lines, patch);
  if (patch.hunks.length > 0) return;
  yield* readBinary(lines, patch);
  if (!patch.isBinary && !changesMetadata(patch)) {
    throw new PatchError('malformed', `patch with only garbage at line ${lines.number}`);
  }
}

function* readHunks(lines: LineReader, patch: FilePatch): Steps<void> {
  let hasOld = false;
  let hasNew = false;
  while (lines.startsWith('@@ -') && lines.left > 4) {
    const hunk = yield* readTextHunk(lines);
    patch.hunks.push(hunk);
    hasOld ||= hunk.oldCount > 0;
    hasNew ||= hunk.newCount > 0;
    yield 1;
  }
  // A traditional header does not state if the file is new or deleted, so the hunks decide. A new file has a single
  // hunk without old lines, and a deleted file a single hunk without new lines.
  if (patch.isNew === undefined && (hasOld || patch.hunks.length > 1)) patch.isNew = false;
  if (patch.isDelete === undefined && (hasNew || patch.hunks.length > 1)) patch.isDelete = false;
  if (patch.isNew && hasOld) {
    throw new PatchError('malformed', `new file ${textOf(patch.newPath ?? NO_BYTES)} depends on old contents`);
  }
  if (patch.isDelete && hasNew) {
    throw new PatchError('malformed', `deleted file ${textOf(patch.oldPath ?? NO_BYTES)} still has contents`);
  }
}

function* readBinary(lines: LineReader, patch: FilePatch): Steps<void> {
  if (!lines.isComplete) return;
  if (lines.text === 'GIT binary patch') {
    lines.next();
    patch.isBinary = true;
    patch.binary = yield* readBinaryHunk(lines);
    if (!patch.binary) throw new CorruptBinaryPatch(`unrecognized binary patch at line ${lines.number - 1}`);
    // A second hunk contains the reverse change. It is skipped.
    yield* readBinaryHunk(lines);
  } else if (/^(?:Binary files|Files) (?:.* )?differ$/s.test(lines.text)) {
    lines.next();
    patch.isBinary = true;
  }
}

function changesMetadata(patch: FilePatch): boolean {
  const { isRename, isCopy, isNew, isDelete, oldMode, newMode } = patch;
  // If `isDelete` is undefined, the patch may delete the file. Git counts this as a change.
  return (
    isRename ||
    isCopy ||
    isNew === true ||
    isDelete !== false ||
    (oldMode !== 0 && newMode !== 0 && oldMode !== newMode)
  );
}
