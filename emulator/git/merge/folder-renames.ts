import { type ByteString, sliceBytes } from '../object/bytes.js';
import { folderOf, pathIn } from '../object/path.js';
import type { FilePair, RenameInfo } from './collect-merge-info.js';
import type { ConflictMessage } from './conflict.js';
import { ABSENT, Entry, type MergeSide, OURS, THEIRS, type Three } from './entry.js';
import type { FolderRenameCounts } from './folder-rename-counts.js';

/** Renamed file, and the side of the merge that renamed it. */
export interface SideRename {
  readonly side: MergeSide;
  readonly before: { readonly path: ByteString };
  readonly after: { readonly path: ByteString };
}

type FolderRenames = Map<ByteString, ByteString>;

/**
 * Applies renames of folders to the files of a merge. If one side put a file into a folder that the other side renamed,
 * the file is moved to the folder's new path. The file is then marked as a location conflict, as with Git's
 * `merge.directoryRenames=conflict`.
 *
 * `collect` returns all renames of files, ordered by old path. Of two renames with equal old paths, ours comes first.
 */
export class FolderRenamer {
  readonly #renames: Three<FolderRenames> = [new Map(), new Map(), new Map()];
  /**
   * Files of each side that folder renames would move, grouped by new path. Two or more files with one new path are a
   * conflict.
   */
  readonly #collisions: Three<Map<ByteString, ByteString[]>> = [new Map(), new Map(), new Map()];
  readonly #reported = new Set<string>();
  isClean = true;

  constructor(
    private readonly entries: Map<ByteString, Entry>,
    private readonly sides: Three<RenameInfo>,
    private readonly messages: ConflictMessage[],
  ) {}

  /**
   * Adds the folder renames of both sides. A folder that both sides renamed is left out. If one side moved a folder's
   * files to several folders in equal numbers, a conflict is reported.
   */
  addRenames(ours: FolderRenameCounts, theirs: FolderRenameCounts): void {
    for (const [side, counts] of [
      [OURS, ours],
      [THEIRS, theirs],
    ] as const) {
      for (const [folder, target] of counts.renames()) {
        if (target !== undefined) {
          this.#renames[side].set(folder, target);
          continue;
        }
        this.messages.push({ kind: 'directory rename split', paths: [folder] });
        this.isClean = false;
      }
    }
    for (const folder of [...this.#renames[OURS].keys()]) {
      if (this.#renames[THEIRS].delete(folder)) this.#renames[OURS].delete(folder);
    }
  }

  collect(): SideRename[] {
    for (const side of [OURS, THEIRS] as const) this.#computeCollisions(side);
    const renames = [...this.#collectSide(OURS), ...this.#collectSide(THEIRS)];
    return renames.sort((a, b) => (a.before.path < b.before.path ? -1 : a.before.path > b.before.path ? 1 : 0));
  }

  #computeCollisions(side: MergeSide): void {
    const renames = this.#renames[otherSide(side)];
    if (renames.size === 0) return;
    for (const { after } of this.sides[side].pairs) {
      const rename = after && folderRenameAround(after.path, renames);
      if (after === undefined || rename === undefined) continue;
      const target = moved(after.path, rename);
      const paths = this.#collisions[side].get(target);
      if (paths === undefined) this.#collisions[side].set(target, [after.path]);
      else paths.push(after.path);
    }
  }

  *#collectSide(side: MergeSide): IterableIterator<SideRename> {
    for (const pair of this.sides[side].pairs) {
      if (pair.after === undefined) continue;
      const { path } = pair.after;
      const target = this.#targetOf(path, side);
      if (target !== undefined) this.#move(pair, path, target);
      else if (pair.before === undefined) continue;
      // A file that one side added has no old path. If the file is moved, its original path counts as the old path.
      const before = pair.before ?? { path };
      yield { side, before: { path: before.path }, after: { path: target ?? path } };
    }
  }

  #targetOf(path: ByteString, side: MergeSide): ByteString | undefined {
    const other = otherSide(side);
    const renames = this.#renames[other];
    if (renames.size === 0 || this.#collisions[other].has(path)) return undefined;
    const rename = folderRenameAround(path, renames);
    // Files are not moved into a target folder that this side renamed.
    if (rename === undefined || this.#renames[side].has(rename.to)) return undefined;
    const target = moved(path, rename);
    const paths = this.#collisions[side].get(target) ?? [];
    const key = `${side} ${target}`;
    if (!this.#reported.has(key) && !this.#blocks(target, side) && paths.length === 1) return target;
    if (!this.#reported.has(key)) this.messages.push({ kind: 'implicit dir rename', paths: [target, ...paths] });
    this.#reported.add(key);
    this.isClean = false;
    return undefined;
  }

  #blocks(path: ByteString, side: MergeSide): boolean {
    const entry = this.entries.get(path);
    return entry !== undefined && (entry.isClean || ((entry.fileMask | entry.dirMask) & (1 << side)) !== 0);
  }

  #move(pair: FilePair, from: ByteString, to: ByteString): void {
    const entry = this.entries.get(from)!;
    const bit = entry.fileMask;
    for (let folder = folderOf(to); folder !== '' && !this.entries.has(folder); folder = folderOf(folder)) {
      this.entries.set(folder, new Entry(folder, [ABSENT, ABSENT, ABSENT], 0, bit));
    }
    this.entries.delete(from);
    let target = this.entries.get(to);
    if (target === undefined) {
      target = entry;
      this.entries.set(to, entry);
    } else {
      const stage = bit >> 1 === OURS ? OURS : THEIRS;
      target.fileMask |= bit;
      if (target.dirMask !== 0) target.hasFileFolderConflict = true;
      target.names[stage] = entry.names[stage];
      target.stages[stage] = entry.stages[stage];
    }
    target.hasPathConflict = true;
    this.messages.push({ kind: 'file location', paths: [to, from] });
    pair.after = { ...pair.after!, path: to };
  }
}

function otherSide(side: MergeSide): MergeSide {
  return side === OURS ? THEIRS : OURS;
}

interface FolderRename {
  readonly from: ByteString;
  readonly to: ByteString;
}

/**
 * Returns the folder rename that applies to `path`: the rename of the innermost renamed folder around it. Returns
 * undefined if no folder around it was renamed.
 */
function folderRenameAround(path: ByteString, renames: FolderRenames): FolderRename | undefined {
  for (let from = folderOf(path); from !== ''; from = folderOf(from)) {
    const to = renames.get(from);
    if (to !== undefined) return { from, to };
  }
  return undefined;
}

function moved(path: ByteString, { from, to }: FolderRename): ByteString {
  return pathIn(to, sliceBytes(path, from.length + 1));
}
