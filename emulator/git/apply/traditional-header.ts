import { readTraditionalName } from './file-names.js';
import type { FilePatch } from './file-patch.js';
import type { LineRest } from './line-reader.js';
import { PatchError } from './patch-error.js';

const EPOCH = /\t(1969-12-31|1970-01-01) ([0-2]\d):([0-5]\d):00(?:\.0+)? ([-+])([0-2]\d):?([0-5]\d)$/;

/**
 * Reads a header that is not Git's into `patch`, from what follows `--- ` and `+++ `:
 *
 *     <name>[ TAB <date>]
 *
 * A file that is new or deleted is named `/dev/null`, or dated 1970. Throws `PatchError`.
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
 * Names without folders have no `a/` and `b/` to take off; this is for the whole patch from there on. Git asks both
 * names (`guess_p_value`), in a way that only the second one's answer counts.
 */
export function isWithoutFolders(second: LineRest): boolean {
  if (isDevNull(second)) return false;
  const name = readTraditionalName(second, 0);
  return name !== undefined && !name.includes('/');
}

export function isDevNull({ text }: LineRest): boolean {
  // A space is there in any case: the line feed.
  return /^\/dev\/null(?:[ \t\r]|$)/.test(text);
}

function isEpoch({ text }: LineRest): boolean {
  const stamp = EPOCH.exec(text);
  if (!stamp) return false;
  const [, date, hours, minutes, sign, zoneHours, zoneMinutes] = stamp;
  const zone = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1);
  return Number(hours) * 60 + Number(minutes) - zone === (date === '1969-12-31' ? 24 * 60 : 0);
}
