import type { ByteString } from '../../bytes.js';
import { commonName, readName } from './file-names.js';
import { type FilePatch, newFilePatch } from './file-patch.js';
import type { LineReader } from './line-reader.js';
import { PatchError } from './patch-error.js';

/** What is known while a header is read. */
interface Header {
  readonly patch: FilePatch;
  /** The name on the `diff --git` line. */
  readonly name: ByteString | undefined;
  /** Leading folders to take off names: `a/` and `b/`. */
  readonly strip: number;
  readonly line: number;
}

type ReadField = (header: Header, value: ByteString) => void;

/** The lines there may be between `diff --git` and the hunks, in any order. */
const FIELDS: readonly (readonly [prefix: string, read: ReadField])[] = [
  ['--- ', (header, value) => readSide(header, value, 'oldPath')],
  ['+++ ', (header, value) => readSide(header, value, 'newPath')],
  ['old mode ', (header, value) => readMode(header, value, 'oldMode')],
  ['new mode ', (header, value) => readMode(header, value, 'newMode')],
  ['deleted file mode ', readDeleted],
  ['new file mode ', readNew],
  ['copy from ', (header, value) => readOther(header, value, 'isCopy', 'oldPath')],
  ['copy to ', (header, value) => readOther(header, value, 'isCopy', 'newPath')],
  ['rename old ', (header, value) => readOther(header, value, 'isRename', 'oldPath')],
  ['rename new ', (header, value) => readOther(header, value, 'isRename', 'newPath')],
  ['rename from ', (header, value) => readOther(header, value, 'isRename', 'oldPath')],
  ['rename to ', (header, value) => readOther(header, value, 'isRename', 'newPath')],
  ['similarity index ', () => undefined],
  ['dissimilarity index ', () => undefined],
  ['index ', readIndex],
];

const GIT_LINE = 'diff --git ';

/**
 * Reads a header of Git's from its `diff --git` line on, and leaves the reader behind it. Undefined when nothing
 * follows that line: such a change changes nothing. Throws `PatchError`.
 */
export function readGitHeader(lines: LineReader, strip: number): FilePatch | undefined {
  const patch = newFilePatch();
  patch.isNew = false;
  patch.isDelete = false;
  const name = commonName(lines.text.slice(GIT_LINE.length), strip);
  lines.next();
  const first = lines.number;
  for (; lines.isComplete; lines.next()) {
    const field = FIELDS.find(([prefix]) => lines.startsWith(prefix));
    if (!field) break;
    const [prefix, read] = field;
    read({ patch, name, strip, line: lines.number }, lines.text.slice(prefix.length));
    const kinds = [patch.isNew, patch.isDelete, patch.isRename, patch.isCopy].filter(Boolean).length;
    if (kinds > 1) throw new PatchError('malformed', `inconsistent header line ${lines.number}`);
  }
  if (patch.oldPath === undefined && patch.newPath === undefined) {
    if (name === undefined) {
      throw new PatchError(
        'malformed',
        `git diff header lacks filename information when removing ${strip} leading pathname components (line ${lines.number})`,
      );
    }
    patch.oldPath = name;
    patch.newPath = name;
  }
  const isIncomplete =
    (patch.newPath === undefined && !patch.isDelete) || (patch.oldPath === undefined && !patch.isNew);
  if (isIncomplete) {
    throw new PatchError('malformed', `git diff header lacks filename information (line ${lines.number})`);
  }
  if (patch.isNew) patch.oldPath = undefined;
  if (patch.isDelete) patch.newPath = undefined;
  return lines.number === first ? undefined : patch;
}

function readSide({ patch, strip, line }: Header, value: ByteString, side: 'oldPath' | 'newPath'): void {
  const isNone = side === 'oldPath' ? patch.isNew : patch.isDelete;
  const known = patch[side];
  if (isNone) {
    if (known !== undefined || !/^\/dev\/null\s*$/.test(value)) {
      throw new PatchError('malformed', `git apply: bad git-diff - expected /dev/null on line ${line}`);
    }
    return;
  }
  const name = readName(value, strip, true);
  if (known !== undefined && known !== name) {
    const which = side === 'oldPath' ? 'old' : 'new';
    throw new PatchError('malformed', `git apply: bad git-diff - inconsistent ${which} filename on line ${line}`);
  }
  patch[side] = name;
}

function readMode({ patch, line }: Header, value: ByteString, side: 'oldMode' | 'newMode'): void {
  const digits = /^[0-7]{1,7}(?=\s|$)/.exec(value);
  if (!digits) throw new PatchError('malformed', `invalid mode on line ${line}: ${value}`);
  patch[side] = Number.parseInt(digits[0], 8);
}

function readDeleted(header: Header, value: ByteString): void {
  header.patch.isDelete = true;
  header.patch.oldPath = header.name;
  readMode(header, value, 'oldMode');
}

function readNew(header: Header, value: ByteString): void {
  header.patch.isNew = true;
  header.patch.newPath = header.name;
  readMode(header, value, 'newMode');
}

function readOther(
  { patch, strip }: Header,
  value: ByteString,
  kind: 'isRename' | 'isCopy',
  side: 'oldPath' | 'newPath',
): void {
  patch[kind] = true;
  patch[side] = readName(value, Math.max(0, strip - 1), false);
}

/** `<old id>..<new id>[ <mode>]`; what is not like that is passed over. */
function readIndex(header: Header, value: ByteString): void {
  const ids = /^([^.]{0,40})\.\.([^ ]{0,40})(?: (.*))?$/.exec(value);
  if (!ids) return;
  header.patch.oldOid = ids[1]!;
  header.patch.newOid = ids[2]!;
  if (ids[3] !== undefined) readMode(header, ids[3], 'oldMode');
}
