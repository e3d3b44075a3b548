import { COST } from '../../schedule/cost.js';
import type { Meter } from '../../schedule/meter.js';
import { PIECE, runYielding, type Steps } from '../../schedule/steps.js';
import { type ByteString, NO_BYTES } from '../object/bytes.js';
import type { ObjectReader, Oid } from '../object/object.js';
import { pathIn } from '../object/path.js';
import { readTree } from '../object/read-tree.js';
import { MODE_TREE, type TreeEntry } from '../object/tree.js';
import {
  ABSENT,
  ALL_BITS,
  BASE,
  BASE_AND_OURS,
  BASE_AND_THEIRS,
  BASE_BIT,
  Entry,
  isSameVersion,
  type MergeSide,
  OURS,
  OURS_BIT,
  SIDE_BITS,
  THEIRS,
  THEIRS_BIT,
  type Three,
  type Version,
} from './entry.js';
import { inHashOrder } from './hash-order.js';

/**
 * Reason why rename detection must find the new path of a file that one side of the merge deleted:
 *
 * - `content`: the other side changed the file, and the change must be applied at the new path.
 * - `location`: the new path shows to which folder the content of the file's old folder was moved.
 */
export type SourceRelevance = 'content' | 'location';

/**
 * Reason why a merge must know the new folder for the content of a removed folder (Git's `enum dir_rename_relevance`):
 *
 * - `self`: needed for the folder itself.
 * - `ancestor`: needed for a folder that contains it.
 * - `none`: not needed.
 */
export type FolderRelevance = 'self' | 'ancestor' | 'none';

export interface PathVersion extends Version {
  readonly path: ByteString;
}

/**
 * File that one side of the merge changed. With only `before`, it was deleted. With only `after`, it was added. With
 * both, it was renamed.
 */
export interface FilePair {
  before?: PathVersion;
  after?: PathVersion;
}

/**
 * Changes that one side of the merge made to the base: deleted files, added files and removed folders.
 * `detectSideRenames` finds the renames among them.
 */
export class RenameInfo {
  pairs: FilePair[] = [];
  readonly relevantSources = new Map<ByteString, SourceRelevance>();
  readonly removedFolders = new Map<ByteString, FolderRelevance>();
}

/**
 * Paths of the three merged trees, and the changes of each side. A folder that is resolved as a whole is listed without
 * the paths below it.
 */
export interface MergeInfo {
  readonly entries: Map<ByteString, Entry>;
  readonly sides: Three<RenameInfo>;
}

/**
 * Bit mask that states if folder renames are relevant for the content of a folder (Git's `dir_rename_mask`):
 *
 * - 0: not relevant.
 * - The bit of one side: the other side removed the folder. Renames become relevant as soon as this side adds a file.
 * - `ALL_BITS`: relevant.
 */
type RenameMask = number;

/**
 * Folder whose content must be compared. `trees` has the folder's tree in the base and in both sides; undefined if the
 * folder is absent.
 */
interface FolderVersions {
  readonly path: ByteString;
  readonly trees: Three<Oid | undefined>;
  readonly renameMask: RenameMask;
}

/** State of the walk in one folder. `at` is the index in `names` of the next name. */
interface Folder {
  readonly path: ByteString;
  readonly names: readonly ByteString[];
  readonly versions: Map<ByteString, Three<Version>>;
  renameMask: RenameMask;
  at: number;
}

interface Deferred {
  readonly entry: Entry;
  readonly renameMask: RenameMask;
}

/**
 * Walks the trees of the base and of both sides in parallel, and resolves the paths that renames cannot change
 * (merge-ort's `collect_merge_info`).
 *
 * If only one side changed a folder, the whole folder is taken from this side. It is walked only if the detection of
 * renames may need its files.
 */
export async function collectMergeInfo(objects: ObjectReader, trees: Three<Oid>, meter: Meter): Promise<MergeInfo> {
  const collector = new MergeInfoCollector(objects, meter);
  await collector.walk(NO_BYTES, trees, 0);
  await collector.handleDeferred(OURS);
  await collector.handleDeferred(THEIRS);
  return { entries: collector.entries, sides: collector.sides };
}

class MergeInfoCollector {
  readonly entries = new Map<ByteString, Entry>();
  readonly sides: Three<RenameInfo> = [new RenameInfo(), new RenameInfo(), new RenameInfo()];
  /**
   * Folders that only one side changed, by side. `handleDeferred` decides later. If this side deleted files, which may
   * be renames, it walks the folders to find the new paths. Otherwise, it takes each folder as a whole.
   */
  readonly #deferred: Three<Map<ByteString, Deferred>> = [new Map(), new Map(), new Map()];
  readonly #mayDefer: Three<boolean> = [false, true, true];

  constructor(
    private readonly objects: ObjectReader,
    private readonly meter: Meter,
  ) {}

  async walk(path: ByteString, trees: Three<Oid | undefined>, renameMask: RenameMask): Promise<void> {
    const stack = [await runYielding(this.#open({ path, trees, renameMask }), this.meter)];
    for (let folder = stack.at(-1); folder !== undefined; folder = stack.at(-1)) {
      if (this.meter.shouldYield) await this.meter.yieldToEventLoop();
      const name = folder.names[folder.at++];
      if (name === undefined) {
        stack.pop();
        continue;
      }
      const below = this.#collect(folder, name, folder.versions.get(name)!);
      if (below !== undefined) stack.push(await runYielding(this.#open(below), this.meter));
    }
  }

  async handleDeferred(side: MergeSide): Promise<void> {
    const isNeeded = this.sides[side].relevantSources.size > 0;
    this.#mayDefer[side] = !isNeeded;
    const deferred = this.#deferred[side];
    for (const path of inHashOrder(deferred.keys())) {
      const { entry, renameMask } = deferred.get(path)!;
      if (!isNeeded) {
        entry.matchMask = 0;
        entry.resolve(entry.stages[side]);
        continue;
      }
      const trees = entry.stages.map(({ mode, oid }) => (mode === MODE_TREE ? oid : undefined));
      entry.matchMask &= entry.fileMask;
      await this.walk(path, trees as Three<Oid | undefined>, renameMask);
    }
  }

  *#open({ path, trees, renameMask }: FolderVersions): Steps<Folder> {
    const versions = new Map<ByteString, Three<Version>>();
    const listed: (readonly TreeEntry[])[] = [];
    for (const [stage, tree] of trees.entries()) {
      const entries = tree === undefined ? [] : yield* readTree(this.objects, tree);
      for (const { name, mode, oid } of entries) {
        const three = versions.get(name) ?? [ABSENT, ABSENT, ABSENT];
        three[stage] = { mode, oid };
        versions.set(name, three);
      }
      listed.push(entries);
    }
    let mask = renameMask;
    if (mask !== 0 && mask !== ALL_BITS) {
      for (const three of versions.values()) if (masksOf(three).fileMask === mask) mask = ALL_BITS;
    }
    const names = yield* namesInStep(listed);
    return { path, names, versions, renameMask: mask, at: 0 };
  }

  /**
   * Records the versions of one path, and resolves the path if renames cannot change it. Returns the folder at the path
   * if its content must be walked; otherwise undefined.
   */
  #collect(folder: Folder, name: ByteString, stages: Three<Version>): FolderVersions | undefined {
    const path = pathIn(folder.path, name);
    const { fileMask, dirMask } = masksOf(stages);
    const matchMask = matchMaskOf(stages);
    const decided = resolveTrivially(stages, fileMask, matchMask);
    if (decided !== undefined) {
      this.entries.set(path, Entry.resolved(path, stages, decided));
      return undefined;
    }
    const renameMask = this.#collectRenameInfo(folder, path, stages, fileMask, dirMask, matchMask);
    const entry = new Entry(path, stages, fileMask, dirMask);
    entry.matchMask = matchMask;
    entry.hasFileFolderConflict = fileMask !== 0 && dirMask !== 0;
    // A folder counts as gone until an entry below it is written. The merged tree does not contain empty folders.
    entry.isGone = dirMask !== 0;
    this.entries.set(path, entry);
    if (dirMask === 0) return undefined;

    const side = onlySideOf(fileMask, dirMask, matchMask);
    if (side !== BASE && renameMask !== ALL_BITS && this.#mayDefer[side]) {
      this.#deferred[side].set(path, { entry, renameMask });
      return undefined;
    }
    entry.matchMask &= fileMask;
    const trees = stages.map(({ mode, oid }) => (mode === MODE_TREE ? oid : undefined));
    return { path, trees: trees as Three<Oid | undefined>, renameMask };
  }

  /**
   * Records a path that may be the old or new path of a renamed file or folder. Returns the mask for the paths below
   * it, which states if folder renames are relevant for them.
   */
  #collectRenameInfo(
    folder: Folder,
    path: ByteString,
    stages: Three<Version>,
    fileMask: number,
    dirMask: number,
    matchMask: number,
  ): RenameMask {
    let { renameMask } = folder;
    const isRemovedOnOneSide = dirMask === BASE_AND_OURS || dirMask === BASE_AND_THEIRS;
    if (renameMask !== ALL_BITS && isRemovedOnOneSide) renameMask = dirMask & SIDE_BITS;
    for (const side of [OURS, THEIRS] as const) {
      if ((dirMask & BASE_BIT) !== 0 && (dirMask & (1 << side)) === 0) {
        this.sides[side].removedFolders.set(path, renameMask === ALL_BITS ? 'ancestor' : 'none');
      }
    }
    if (renameMask === ALL_BITS && (fileMask === OURS_BIT || fileMask === THEIRS_BIT)) {
      this.sides[fileMask === OURS_BIT ? THEIRS : OURS].removedFolders.set(folder.path, 'self');
    }
    if (fileMask === 0 || fileMask === ALL_BITS) return renameMask;
    for (const side of [OURS, THEIRS] as const) {
      const isThere = (fileMask & (1 << side)) !== 0;
      const changes = this.sides[side];
      if ((fileMask & BASE_BIT) !== 0 && !isThere) {
        if ((matchMask & fileMask) === 0) changes.relevantSources.set(path, 'content');
        else if (renameMask === ALL_BITS) changes.relevantSources.set(path, 'location');
        changes.pairs.push({ before: { path, ...stages[BASE] } });
      } else if ((fileMask & BASE_BIT) === 0 && isThere) {
        changes.pairs.push({ after: { path, ...stages[side] } });
      }
    }
    return renameMask;
  }
}

/**
 * Returns the names in all versions of a folder, in the order in which Git's `traverse_trees` visits them. The order
 * matters, because it decides which of several equal files counts as renamed.
 *
 * Each version is sorted as Git sorts trees: a folder's name counts as if it ended in `/`. Each round takes the
 * smallest of the next names of all versions, compared without the `/`. All files and folders with that name are
 * visited together. (`TreeMergeJoin` instead treats a file and a folder of one name as two entries.)
 */
function* namesInStep(versions: readonly (readonly TreeEntry[])[]): Steps<ByteString[]> {
  const names = new Set<ByteString>();
  const next = versions.map(() => 0);
  for (;;) {
    let first: ByteString | undefined;
    for (const [version, entries] of versions.entries()) {
      let at = next[version]!;
      while (at < entries.length && names.has(entries[at]!.name)) at++;
      next[version] = at;
      const name = entries[at]?.name;
      if (name !== undefined && (first === undefined || name < first)) first = name;
    }
    if (first === undefined) return [...names];
    names.add(first);
    if (names.size % PIECE === 0) yield PIECE * COST.entry;
  }
}

function masksOf(stages: Three<Version>): { fileMask: number; dirMask: number } {
  let fileMask = 0;
  let dirMask = 0;
  for (const [stage, { mode }] of stages.entries()) {
    if (mode === MODE_TREE) dirMask |= 1 << stage;
    else if (mode !== 0) fileMask |= 1 << stage;
  }
  return { fileMask, dirMask };
}

function matchMaskOf([base, ours, theirs]: Three<Version>): number {
  const isOursBase = base.mode !== 0 && isSameVersion(base, ours);
  const isTheirsBase = base.mode !== 0 && isSameVersion(base, theirs);
  if (isOursBase) return isTheirsBase ? ALL_BITS : BASE_AND_OURS;
  if (isTheirsBase) return BASE_AND_THEIRS;
  return ours.mode !== 0 && isSameVersion(ours, theirs) ? SIDE_BITS : 0;
}

/**
 * Returns the merged version of a path that no rename can change; undefined for other paths. Renames cannot change it
 * if all three versions are equal, or if all three are files and two of them are equal.
 */
function resolveTrivially(stages: Three<Version>, fileMask: number, matchMask: number): Version | undefined {
  if (matchMask === ALL_BITS) return stages[BASE];
  if (fileMask !== ALL_BITS || matchMask === 0) return undefined;
  return stages[matchMask === BASE_AND_OURS ? THEIRS : OURS];
}

/** Returns the side that changed a folder; `BASE` if neither or both did. */
function onlySideOf(fileMask: number, dirMask: number, matchMask: number): typeof BASE | MergeSide {
  if (fileMask === 0 && (dirMask === OURS_BIT || dirMask === THEIRS_BIT)) return dirMask === OURS_BIT ? OURS : THEIRS;
  return matchMask === BASE_AND_OURS ? THEIRS : matchMask === BASE_AND_THEIRS ? OURS : BASE;
}
