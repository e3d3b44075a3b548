import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { type ByteString, sliceBytes } from '../object/bytes.js';
import { commonName, readName } from './file-names.js';
import type { FilePatch } from './file-patch.js';
import type { LineReader, LineRest } from './line-reader.js';
import { PatchError } from './patch-error.js';
import { isDevNull } from './traditional-header.js';

/** State of reading the header of one file patch. */
interface Header {
  readonly patch: FilePatch;
  /** File name from the `diff --git` line; undefined if the line does not consist of one name twice. */
  readonly name: ByteString | undefined;
  /** Number of leading folders to remove from names: 1 for the prefixes `a/` and `b/`. */
  readonly strip: number;
  readonly line: number;
}

type ReadField = (header: Header, value: LineRest) => void;

/** Lines that may follow `diff --git` before the hunks, in any order, each with the function that reads it. */
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
/** Number of bytes of header lines read between two yields to the event loop. */
const UNIT = 32 * 1024;

/**
 * Reads a Git header into `patch`, starting at its `diff --git` line, and moves the reader past it. Throws
 * `PatchError`.
 *
 * Returns false if no known header line follows, so that the header describes no change. As in Git, the values read so
 * far then apply to the next file, so the caller must continue with the same `patch`.
 */
export function* readGitHeader(lines: LineReader, strip: number, patch: FilePatch): Steps<boolean> {
  patch.isNew = false;
  patch.isDelete = false;
  const name = commonName(lines.rest(GIT_LINE.length), strip);
  lines.next();
  const first = lines.number;
  let pause = lines.start + UNIT;
  for (; lines.isComplete; lines.next()) {
    if (lines.start >= pause) {
      yield UNIT * COST.byteScanned;
      pause = lines.start + UNIT;
    }
    const field = FIELDS.find(([prefix]) => lines.startsWith(prefix));
    if (!field) break;
    const [prefix, read] = field;
    read({ patch, name, strip, line: lines.number }, lines.rest(prefix.length));
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
  return lines.number > first;
}

/**
 * Reads the file name of a `---` or `+++` line. Throws `PatchError` if it differs from the name that is already known.
 * Corresponds to Git's `gitdiff_verify_name`.
 */
function readSide({ patch, strip, line }: Header, value: LineRest, side: 'oldPath' | 'newPath'): void {
  const isNone = side === 'oldPath' ? patch.isNew : patch.isDelete;
  const known = patch[side];
  if (isNone) {
    if (known !== undefined || !isDevNull(value)) {
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

/**
 * File mode as C's `strtoul` parses it: any number of octal digits. White space and a sign may precede them. White
 * space or the end of the line must follow.
 */
const MODE = /^[ \t\v\f\r]*([-+]?)([0-7]+)(?:[ \t\r]|$)/;
const LARGEST = (1n << 64n) - 1n;

function readMode({ patch, line }: Header, { text }: LineRest, side: 'oldMode' | 'newMode'): void {
  const [, sign, digits] = MODE.exec(text) ?? [];
  if (digits === undefined) throw new PatchError('malformed', `invalid mode on line ${line}: ${text}`);
  const significant = digits.replace(/^0+/, '');
  const value = significant.length > 21 ? LARGEST : BigInt(`0o0${significant}`);
  patch[side] = Number(BigInt.asUintN(32, sign === '-' ? -value : value));
}

function readDeleted(header: Header, value: LineRest): void {
  header.patch.isDelete = true;
  header.patch.oldPath = header.name;
  readMode(header, value, 'oldMode');
}

function readNew(header: Header, value: LineRest): void {
  header.patch.isNew = true;
  header.patch.newPath = header.name;
  readMode(header, value, 'newMode');
}

function readOther(
  { patch, strip }: Header,
  value: LineRest,
  kind: 'isRename' | 'isCopy',
  side: 'oldPath' | 'newPath',
): void {
  patch[kind] = true;
  patch[side] = readName(value, Math.max(0, strip - 1), false);
}

const OID_LENGTH = 40;

/**
 * Reads the value of an `index` line, `<old id>..<new id>[ <mode>]`. A value in another form is ignored. As in Git, a
 * carriage return at the end becomes a part of the new id.
 */
function readIndex(header: Header, value: LineRest): void {
  const dots = value.text.indexOf('.');
  if (dots < 0 || dots > OID_LENGTH || value.text[dots + 1] !== '.') return;
  header.patch.oldOid = value.text.slice(0, dots);
  const space = value.text.indexOf(' ', dots + 2);
  const newOid = value.text.slice(dots + 2, space < 0 ? undefined : space);
  if (newOid.length > OID_LENGTH) return;
  header.patch.newOid = newOid;
  if (space >= 0) readMode(header, { ...value, text: sliceBytes(value.text, space + 1) }, 'oldMode');
}
