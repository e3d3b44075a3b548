import { readTraditionalName } from './file-names.js';
import type { FilePatch } from './file-patch.js';
import type { LineRest } from './line-reader.js';
import { PatchError } from './patch-error.js';

const EPOCH = /\t(1969-12-31|1970-01-01) ([0-2]\d):([0-5]\d):00(?:\.0+)? ([-+])([0-2]\d):?([0-5]\d)$/;

/**
 * Reads a header of diff(1) into `patch`. `first` and `second` are the texts after `--- ` and `+++ `, in this form:
 *
 *     <name>[ TAB <date>]
 *
 * The absent side of a new or deleted file has the name `/dev/null`, or the date of the epoch, 1970. Throws
 * `PatchError`.
 */
export function readTraditionalHeader(
  patch: FilePatch,
  first: LineRest,
  second: LineRest,
  strip: number,
  line: number,
): void {
  const isNone = { old: isDevNull(first), new: isDevNull(second) };
  const old = isNone.old ? undefined : readTraditionalName(first, strip);
  const name = isNone.new && !isNone.old ? old : readTraditionalName(second, strip, old);
  if (name === undefined) throw new PatchError('malformed', `unable to find filename in patch at line ${line}`);
  if (isNone.old || (!isNone.new && isEpoch(first))) {
    patch.isNew = true;
    patch.isDelete = false;
    patch.newPath = name;
  } else if (isNone.new || isEpoch(second)) {
    patch.isNew = false;
    patch.isDelete = true;
    patch.oldPath = name;
  } else {
    patch.oldPath = name;
    patch.newPath = name;
  }
}

/**
 * Returns true if the name in the second line contains no folder. Then no prefix (`a/`, `b/`) is removed from the names
 * of this file and all later files. Git checks both names (`guess_p_value`), but only its result for the second name
 * takes effect.
 */
export function isWithoutFolders(second: LineRest): boolean {
  if (isDevNull(second)) return false;
  const name = readTraditionalName(second, 0);
  return name !== undefined && !name.includes('/');
}

export function isDevNull({ text }: LineRest): boolean {
  // Git requires white space after the name. The line feed, which `text` does not contain, counts as white space.
  return /^\/dev\/null(?:[ \t\r]|$)/.test(text);
}

function isEpoch({ text }: LineRest): boolean {
  const stamp = EPOCH.exec(text);
  if (!stamp) return false;
  const [, date, hours, minutes, sign, zoneHours, zoneMinutes] = stamp;
  const zone = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1);
  return Number(hours) * 60 + Number(minutes) - zone === (date === '1969-12-31' ? 24 * 60 : 0);
}
