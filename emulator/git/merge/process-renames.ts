import type { ByteString } from '../object/bytes.js';
import { isRegular } from '../object/tree.js';
import type { ConflictMessage } from './conflict.js';
import { type MergeContext, mergeContents } from './content.js';
import {
  ABSENT,
  BASE,
  BASE_BIT,
  type Entry,
  isSameVersion,
  type MergeSide,
  OURS,
  SIDE_BITS,
  THEIRS,
  type Three,
} from './entry.js';
import type { SideRename } from './folder-renames.js';

/**
 * Merges renamed files at their new paths. The versions of each file in the base and on the other side are moved from
 * the old path to the new path. `renames` must be sorted by old path, ours before theirs. Returns false if a file that
 * both sides renamed has a conflict in its content.
 */
export async function processRenames(
  context: MergeContext,
  entries: Map<ByteString, Entry>,
  renames: readonly SideRename[],
  messages: ConflictMessage[],
): Promise<boolean> {
  let isClean = true;
  for (let at = 0; at < renames.length; at++) {
    const rename = renames[at]!;
    const old = entries.get(rename.before.path);
    // If the old path is already resolved, there is no version to move to the new path.
    if (old === undefined || old.isClean) continue;
    const next = renames[at + 1];
    if (next !== undefined && next.before.path === rename.before.path) {
      isClean = (await processBothRenames(context, entries, rename, next, messages)) && isClean;
      at++;
      continue;
    }
    await processRename(context, entries, rename, old, messages);
  }
  return isClean;
}

/**
 * Handles a file that both sides renamed. `ourRename` and `theirRename` have one old path. Returns false if the new
 * paths differ and the contents have a conflict. If the new paths are equal, the contents are merged later.
 */
async function processBothRenames(
  context: MergeContext,
  entries: Map<ByteString, Entry>,
  ourRename: SideRename,
  theirRename: SideRename,
  messages: ConflictMessage[],
): Promise<boolean> {
  const names: Three<ByteString> = [ourRename.before.path, ourRename.after.path, theirRename.after.path];
  const [base, ours, theirs] = names.map((name) => entries.get(name)!) as Three<Entry>;
  if (names[OURS] === names[THEIRS]) {
    ours.stages[BASE] = base.stages[BASE];
    ours.fileMask |= BASE_BIT;
    base.resolveAsGone();
    return true;
  }
  const [before, our, their] = [base.stages[BASE], ours.stages[OURS], theirs.stages[THEIRS]];
  const { version, isClean } = await mergeContents(context, before, our, their, names, 1 + 2 * context.depth);
  ours.stages[OURS] = version;
  // An unclean result that equals our version means that the contents could not be merged. Each new path then keeps the
  // version of its own side.
  theirs.stages[THEIRS] = !isClean && isSameVersion(version, our) ? their : version;
  for (const entry of [base, ours, theirs]) entry.hasPathConflict = true;
  messages.push({ kind: 'rename/rename', paths: names });
  return isClean;
}

async function processRename(
  context: MergeContext,
  entries: Map<ByteString, Entry>,
  { side, before, after }: SideRename,
  old: Entry,
  messages: ConflictMessage[],
): Promise<void> {
  const renamed = entries.get(after.path)!;
  const other: MergeSide = side === OURS ? THEIRS : OURS;
  const otherBit = 1 << other;
  const isDeleted = old.fileMask === BASE_BIT;
  const isOtherType = !isDeleted && isRegular(old.stages[other].mode) !== isRegular(renamed.stages[side].mode);
  // A file of another type at the old path is a new file. The other side has renamed the original file too, but this
  // rename was not detected. The new file must not be merged into the renamed file.
  const collides = (renamed.fileMask & otherBit) !== 0 && !isOtherType;
  if (collides && !isDeleted) {
    const names: Three<ByteString> = [before.path, before.path, before.path];
    names[side] = after.path;
    const stages: Three<Entry['result']> = [old.stages[BASE], old.stages[OURS], old.stages[THEIRS]];
    stages[side] = renamed.stages[side];
    const { version, isClean } = await mergeContents(context, ...stages, names, 1 + 2 * context.depth);
    renamed.stages[side] = version;
    if (!isClean) messages.push({ kind: 'rename involved in collision', paths: [after.path, before.path] });
  } else if (collides) {
    renamed.hasPathConflict = true;
    messages.push({ kind: 'rename/delete', paths: [after.path, before.path] });
  } else {
    renamed.stages[BASE] = old.stages[BASE];
    renamed.fileMask |= BASE_BIT;
    renamed.names[BASE] = before.path;
    if (isOtherType) {
      old.stages[BASE] = ABSENT;
      old.fileMask &= SIDE_BITS;
    } else if (isDeleted) {
      renamed.hasPathConflict = true;
      messages.push({ kind: 'rename/delete', paths: [after.path, before.path] });
    } else {
      renamed.stages[other] = old.stages[other];
      renamed.fileMask |= otherBit;
      renamed.names[other] = before.path;
    }
  }
  if (!isOtherType) old.resolveAsGone();
}
