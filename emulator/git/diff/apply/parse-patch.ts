import type { ByteString } from '../../bytes.js';
import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { readBinaryHunk } from './binary-hunk.js';
import type { FilePatch } from './file-patch.js';
import { readGitHeader } from './git-header.js';
import { LineReader } from './line-reader.js';
import { PatchError } from './patch-error.js';
import { isHunkHeader, readTextHunk } from './text-hunk.js';
import { isWithoutFolders, readTraditionalHeader } from './traditional-header.js';

export interface ParseOptions {
  /** Bytes of a file in a binary patch. */
  readonly fileLimit?: number | undefined;
}

/** Lines passed over between two steps. */
const UNIT = 4096;

const DEFAULT_FILE_LIMIT = 256 * 1024 * 1024;

/**
 * Reads a patch as `git apply` does: any number of files, each with a header of Git's or a traditional one
 * (`---` and `+++` followed by a hunk), and then its hunks; other text around them is passed over.
 * One pass, whatever comes, in steps. An empty patch has no files. Throws `PatchError`.
 */
export function* parsePatch(bytes: Buffer, options: ParseOptions = {}): Steps<FilePatch[]> {
  const { fileLimit = DEFAULT_FILE_LIMIT } = options;
  const lines = new LineReader(bytes);
  const files: FilePatch[] = [];
  let strip = 1;
  for (;;) {
    const header = yield* findHeader(lines, strip);
    if (!header) return files;
    strip = header.strip;
    const { patch } = header;
    yield* readHunks(lines, patch);
    if (patch.hunks.length === 0) {
      yield* readBinary(lines, patch, fileLimit);
      if (!patch.isBinary && !changesMetadata(patch)) {
        throw new PatchError('malformed', `patch with only garbage at line ${lines.number}`);
      }
    }
    files.push(patch);
  }
}

/** Goes on to the next header and behind it. */
function* findHeader(lines: LineReader, strip: number): Steps<{ patch: FilePatch; strip: number } | undefined> {
  while (!lines.isDone) {
    if (lines.number % UNIT === 0) yield UNIT * COST.line;
    if (lines.startsWith('@@ -') && isHunkHeader(lines.text)) {
      const text = lines.text.slice(0, 100);
      throw new PatchError('malformed', `patch fragment without header at line ${lines.number}: ${text}`);
    }
    if (lines.startsWith('diff --git ')) {
      const patch = readGitHeader(lines, strip);
      if (patch) return { patch, strip };
    } else if (lines.startsWith('--- ') && lines.nextStartsWith('+++ ') && lines.secondNextStartsWith('@@ -')) {
      const { number } = lines;
      const first = takeName(lines);
      const second = takeName(lines);
      const nextStrip = isWithoutFolders(first, second) ? 0 : strip;
      return { patch: readTraditionalHeader(first, second, nextStrip, number), strip: nextStrip };
    } else {
      lines.next();
    }
  }
  return undefined;
}

function takeName(lines: LineReader): ByteString {
  const name = lines.text.slice(4);
  lines.next();
  return name;
}

function* readHunks(lines: LineReader, patch: FilePatch): Steps<void> {
  let hasOld = false;
  let hasNew = false;
  while (lines.startsWith('@@ -')) {
    const hunk = yield* readTextHunk(lines);
    patch.hunks.push(hunk);
    hasOld ||= hunk.oldCount > 0;
    hasNew ||= hunk.newText.length > 0;
    yield 1;
  }
  // Without Git's word for it: a new file has no old lines, a deleted one no new lines, both have but one hunk.
  if (patch.isNew === undefined && (hasOld || patch.hunks.length > 1)) patch.isNew = false;
  if (patch.isDelete === undefined && (hasNew || patch.hunks.length > 1)) patch.isDelete = false;
  if (patch.isNew && hasOld) {
    throw new PatchError('malformed', `new file ${patch.newPath} depends on old contents`);
  }
  if (patch.isDelete && hasNew) {
    throw new PatchError('malformed', `deleted file ${patch.oldPath} still has contents`);
  }
}

function* readBinary(lines: LineReader, patch: FilePatch, fileLimit: number): Steps<void> {
  if (lines.text === 'GIT binary patch') {
    lines.next();
    patch.isBinary = true;
    patch.binary = yield* readBinaryHunk(lines, fileLimit);
    if (!patch.binary) throw new PatchError('malformed', `unrecognized binary patch at line ${lines.number - 1}`);
    // The way back is read only to get past it.
    yield* readBinaryHunk(lines, fileLimit);
  } else if (/^(?:Binary files|Files) .* differ$/s.test(lines.text)) {
    lines.next();
    patch.isBinary = true;
  }
}

function changesMetadata(patch: FilePatch): boolean {
  const { isRename, isCopy, isNew, isDelete, oldMode, newMode } = patch;
  // A deletion nobody has ruled out counts, as in Git.
  return (
    isRename ||
    isCopy ||
    isNew === true ||
    isDelete !== false ||
    (oldMode !== 0 && newMode !== 0 && oldMode !== newMode)
  );
}
