import type { ByteString } from '../../bytes.js';
import { readName, unquoteName } from './file-names.js';
import { type FilePatch, newFilePatch } from './file-patch.js';
import { PatchError } from './patch-error.js';

/** A date as diff(1) puts it behind a name, with or without the tab. */
const TIMESTAMP = /[\t ]+\d{2,4}-\d{1,2}-\d{1,2} \d{1,2}:\d{2}:\d{2}(?:\.\d+)?(?: [+-]\d{1,2}:?\d{2})?\s*$/;
const EPOCH = /\t(1969-12-31|1970-01-01) ([0-2]\d):([0-5]\d):00(?:\.0+)? ([-+])([0-2]\d):?([0-5]\d)$/;

/**
 * Reads a header that is not Git's, from what follows `--- ` and `+++ `:
 *
 *     <name>[ TAB <date>]
 *
 * A file that is new or deleted is named `/dev/null`, or dated 1970. Throws `PatchError`.
 */
export function readTraditionalHeader(first: ByteString, second: ByteString, strip: number, line: number): FilePatch {
  const patch = newFilePatch();
  const isNew = isDevNull(first);
  const isDelete = !isNew && isDevNull(second);
  let name: ByteString | undefined;
  if (isNew) name = nameIn(second, strip);
  else if (isDelete) name = nameIn(first, strip);
  else name = shorterName(nameIn(first, strip), nameIn(second, strip));
  if (name === undefined) throw new PatchError('malformed', `unable to find filename in patch at line ${line}`);
  if (isNew || (!isDelete && isEpoch(first))) {
    patch.isNew = true;
    patch.isDelete = false;
    patch.newPath = name;
  } else if (isDelete || isEpoch(second)) {
    patch.isNew = false;
    patch.isDelete = true;
    patch.oldPath = name;
  } else {
    patch.oldPath = name;
    patch.newPath = name;
  }
  return patch;
}

/** Names without folders have no `a/` and `b/` to take off; this is for the whole patch from there on. */
export function isWithoutFolders(first: ByteString, second: ByteString): boolean {
  const names = [first, second].filter((side) => !isDevNull(side)).map((side) => nameIn(side, 0));
  return names.length > 0 && names.every((name) => name !== undefined && !name.includes('/'));
}

function isDevNull(side: ByteString): boolean {
  return /^\/dev\/null(?:\s|$)/.test(side);
}

function nameIn(side: ByteString, strip: number): ByteString | undefined {
  if (unquoteName(side)) return readName(side, strip, true);
  return readName(side.replace(TIMESTAMP, ''), strip, true);
}

/** `file` rather than `file.orig`. */
function shorterName(first: ByteString | undefined, second: ByteString | undefined): ByteString | undefined {
  if (first === undefined || second === undefined) return second ?? first;
  return second.length > first.length && second.startsWith(first) ? first : second;
}

function isEpoch(side: ByteString): boolean {
  const stamp = EPOCH.exec(side);
  if (!stamp) return false;
  const [, date, hours, minutes, sign, zoneHours, zoneMinutes] = stamp;
  const zone = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1);
  return Number(hours) * 60 + Number(minutes) - zone === (date === '1969-12-31' ? 24 * 60 : 0);
}
