import { readTraditionalName } from './file-names.js';
import type { FilePatch } from './file-patch.js';
import type { LineRest } from './line-reader.js';
import { PatchError } from './patch-error.js';

const EPOCH = /\t(1969-12-31|1970-01-01) ([0-2]\d):([0-5]\d):00(?:\.0+)? ([-+])([0-2]\d):?([0-5]\d)$/;

/**
 * Reads a traditional header into `patch`, from the text after `--- ` and `+++ `:
 *
 *     <name>[ TAB <date>]
 *
 * A new or deleted file is named `/dev/null` or has a date in 1970. Throws `PatchError`.
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
 * Returns true if names have no folders, so that no `a/` and `b/` are removed from this file on. Git checks both names
 * (`guess_p_value`), but only the result for the second one takes effect.
 */
export function isWithoutFolders(second: LineRest): boolean {
  if (isDevNull(second)) return false;
  const name = readTraditionalName(second, 0);
  return name !== undefined && !name.includes('/');
}

export function isDevNull({ text }: LineRest): boolean {
  // The line feed counts as the white space after the name.
  return /^\/dev\/null(?:[ \t\r]|$)/.test(text);
}

function isEpoch({ text }: LineRest): boolean {
  const stamp = EPOCH.exec(text);
  if (!stamp) return false;
  const [, date, hours, minutes, sign, zoneHours, zoneMinutes] = stamp;
  const zone = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1);
  return Number(hours) * 60 + Number(minutes) - zone === (date === '1969-12-31' ? 24 * 60 : 0);
}
