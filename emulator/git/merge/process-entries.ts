import { runYielding } from '../../schedule/steps.js';
import { type ByteString, bytesOf, concatBytes, NO_BYTES, replaceBytes, SLASH, sliceBytes } from '../object/bytes.js';
import { writeTreeInSteps } from '../object/large-tree.js';
import { type Oid, TREE } from '../object/object.js';
import { folderOf, nameOf } from '../object/path.js';
import { byBytes, sortInSteps } from '../object/sort.js';
import { fileType, isRegular, MODE_GITLINK, MODE_TREE, type TreeEntry } from '../object/tree.js';
import type { ConflictMessage } from './conflict.js';
import { type MergeContext, mergeContents } from './content.js';
import {
  ABSENT,
  BASE,
  BASE_AND_OURS,
  BASE_AND_THEIRS,
  BASE_BIT,
  type Entry,
  isSameType,
  OURS,
  OURS_BIT,
  SIDE_BITS,
  THEIRS,
  THEIRS_BIT,
} from './entry.js';

const TILDE = bytesOf('~');
const UNDERSCORE = bytesOf('_');

/**
 * Computes the merged version of each path and writes the merged trees. The innermost paths come first. Corresponds to
 * merge-ort's `process_entries`.
 */
export class EntryProcessor {
  /** States of the paths that have a conflict, by path. */
  readonly conflicted = new Map<ByteString, Entry>();
  /** Tree entries of the folders whose tree objects are not written yet, by the path of the folder. */
  readonly #open = new Map<ByteString, TreeEntry[]>();

  constructor(
    private readonly context: MergeContext,
    private readonly entries: Map<ByteString, Entry>,
    private readonly messages: ConflictMessage[],
  ) {}

  /**
   * Writes the merged tree and returns its object id. Files with a path in `conflicted` may contain conflict markers.
   */
  async run(): Promise<Oid> {
    const { meter } = this.context;
    // Paths are sorted as if each ended in `/`, so the content of a folder directly follows the folder. The loop runs
    // in reverse. It reaches the content of a folder first, and can then write the folder's tree.
    const paths = await runYielding(
      sortInSteps(
        Array.from(this.entries.keys(), (path) => concatBytes(path, SLASH)),
        byBytes,
      ),
      meter,
    );
    for (let at = paths.length - 1; at >= 0; at--) {
      const path = sliceBytes(paths[at]!, 0, -1);
      const entry = this.entries.get(path);
      if (entry === undefined) continue;
      const below = this.#open.get(path);
      if (below !== undefined) {
        this.#open.delete(path);
        entry.result = { mode: MODE_TREE, oid: await this.#writeTree(below) };
        entry.isGone = false;
      }
      if (entry.isClean) this.#record(path, entry);
      else await this.#processEntry(path, entry);
      if (meter.shouldYield) await meter.yieldToEventLoop();
    }
    return this.#writeTree(this.#open.get(NO_BYTES) ?? []);
  }

  async #writeTree(entries: readonly TreeEntry[]): Promise<Oid> {
    const { objects, meter } = this.context;
    const parts = await runYielding(writeTreeInSteps(entries), meter);
    return runYielding(objects.writeSteps(TREE, parts), meter);
  }

  #record(path: ByteString, { isGone, result }: Entry): void {
    if (isGone || result.mode === 0) return;
    const folder = folderOf(path);
    const entry = { name: nameOf(path), ...result };
    const siblings = this.#open.get(folder);
    if (siblings === undefined) this.#open.set(folder, [entry]);
    else siblings.push(entry);
  }

  async #processEntry(path: ByteString, entry: Entry): Promise<void> {
    if (entry.dirMask !== 0) {
      this.#record(path, entry);
      if (entry.fileMask === 0) return;
    }
    const file = entry.hasFileFolderConflict
      ? this.#resolveFileFolderConflict(path, entry)
      : { path, entry, side: OURS as typeof OURS | typeof THEIRS };
    if (file !== undefined) await this.#processFile(file.path, file.entry, file.side);
  }

  /**
   * Resolves a path that is a file in one tree and a folder in another. If the merged folder is empty, the file keeps
   * the path. Otherwise the file gets a new, unique path. Returns undefined if no file remains.
   */
  #resolveFileFolderConflict(
    path: ByteString,
    entry: Entry,
  ): { path: ByteString; entry: Entry; side: typeof OURS | typeof THEIRS } | undefined {
    if (entry.result.mode === 0) {
      entry.hasFileFolderConflict = false;
      entry.isClean = false;
      entry.isGone = false;
      entry.keepFilesOnly();
      return { path, entry, side: OURS };
    }
    if (entry.fileMask === BASE_BIT) {
      // Only the base has a file at this path. Both sides removed the file, so only the folder remains.
      entry.fileMask = 0;
      return undefined;
    }
    const file = entry.copy(path);
    file.keepFilesOnly();
    const side = (entry.dirMask & OURS_BIT) !== 0 ? THEIRS : OURS;
    const place = this.#uniquePath(path, side === OURS ? this.context.ours : this.context.theirs);
    this.entries.set(place, file);
    this.messages.push({ kind: 'file/directory', paths: [place, path] });
    entry.fileMask = 0;
    return { path: place, entry: file, side };
  }

  async #processFile(path: ByteString, entry: Entry, side: typeof OURS | typeof THEIRS): Promise<void> {
    let place = path;
    if (entry.matchMask !== 0) resolveMatch(entry);
    else if (entry.fileMask >= SIDE_BITS && !isSameType(entry.stages[OURS], entry.stages[THEIRS])) {
      place = this.#resolveDistinctTypes(path, entry);
    } else if (entry.fileMask >= SIDE_BITS) await this.#mergeContents(path, entry, side);
    else if (entry.fileMask === BASE_AND_OURS || entry.fileMask === BASE_AND_THEIRS)
      this.#resolveModifyDelete(path, entry);
    else if (entry.fileMask === BASE_BIT) {
      entry.result = ABSENT;
      entry.isGone = true;
      entry.isClean = !entry.hasPathConflict;
    } else {
      entry.result = entry.stages[entry.fileMask === THEIRS_BIT ? THEIRS : OURS];
      entry.isClean = isUncontested(entry);
    }
    if (!entry.isClean) this.conflicted.set(place, entry);
    this.#record(place, entry);
  }

  /**
   * Resolves a path whose types differ, such as a file on our side and a symbolic link on their side. Both versions are
   * kept: a file gets a new, unique path. Returns the path of our version.
   *
   * In a merge of merge bases, the base version is taken instead.
   */
  #resolveDistinctTypes(path: ByteString, entry: Entry): ByteString {
    const [base, ours, theirs] = entry.stages;
    entry.isClean = false;
    if (this.context.depth > 0) {
      entry.result = base;
      entry.isGone = base.mode === 0;
      return path;
    }
    const movesOurs = isRegular(ours.mode) || !isRegular(theirs.mode);
    const movesTheirs = !isRegular(ours.mode);
    const oursPath = movesOurs ? this.#uniquePath(path, this.context.ours) : path;
    const theirsPath = movesTheirs ? this.#uniquePath(path, this.context.theirs) : path;
    this.messages.push({
      kind: 'distinct types',
      paths: [path, ...[oursPath, theirsPath].filter((place) => place !== path)],
    });

    const other = entry.copy(path);
    other.result = theirs;
    other.stages[OURS] = ABSENT;
    other.fileMask = BASE_AND_THEIRS;
    if (!isSameType(theirs, base)) {
      other.stages[BASE] = ABSENT;
      other.fileMask = THEIRS_BIT;
    }
    entry.result = ours;
    entry.stages[THEIRS] = ABSENT;
    entry.fileMask = BASE_AND_OURS;
    if (!isSameType(ours, base)) {
      entry.stages[BASE] = ABSENT;
      entry.fileMask = OURS_BIT;
    }
    this.entries.delete(path);
    this.entries.set(oursPath, entry);
    this.entries.set(theirsPath, other);
    this.conflicted.set(theirsPath, other);
    this.#record(theirsPath, other);
    return oursPath;
  }

  async #mergeContents(path: ByteString, entry: Entry, side: typeof OURS | typeof THEIRS): Promise<void> {
    const { stages, names, fileMask } = entry;
    const { version, isClean } = await mergeContents(this.context, ...stages, names, 2 * this.context.depth);
    entry.isClean = isClean && isUncontested(entry);
    entry.result = version;
    entry.isGone = version.mode === 0;
    if (isClean && entry.hasFileFolderConflict) {
      entry.fileMask = 1 << side;
      stages[side] = version;
    }
    if (isClean) return;
    const isSubmodule = fileType(version.mode) === MODE_GITLINK;
    this.messages.push({
      kind: isSubmodule ? 'submodule' : fileMask === SIDE_BITS ? 'add/add' : 'content',
      paths: [path],
    });
  }

  /**
   * Resolves a file that one side deleted and the other side changed or renamed. The version of the other side is kept.
   * In a merge of merge bases, the base version is kept instead.
   */
  #resolveModifyDelete(path: ByteString, entry: Entry): void {
    const side = (entry.fileMask & THEIRS_BIT) !== 0 ? THEIRS : OURS;
    entry.result = entry.stages[this.context.depth > 0 ? BASE : side];
    entry.isClean = false;
    const isOnlyRenamed = entry.hasPathConflict && entry.stages[BASE].oid === entry.stages[side].oid;
    if (!isOnlyRenamed) this.messages.push({ kind: 'modify/delete', paths: [path] });
  }

  /**
   * Returns a new path for a file that cannot keep its path because of a conflict. The new path is `path~branch`, with
   * `_` for each `/` in the branch name. A number is appended if this path exists already.
   */
  #uniquePath(path: ByteString, branch: ByteString): ByteString {
    const name = concatBytes(
      path,
      TILDE,
      replaceBytes(branch, /\//g, () => UNDERSCORE),
    );
    let free = name;
    for (let number = 0; this.entries.has(free); number++) free = concatBytes(name, bytesOf(`_${number}`));
    return free;
  }
}

/** Resolves a path to its changed version. Only one side changed the path, or both sides changed it in the same way. */
function resolveMatch(entry: Entry): void {
  entry.isClean = isUncontested(entry);
  if (entry.matchMask === SIDE_BITS) {
    entry.result = entry.stages[OURS];
    return;
  }
  entry.result = entry.stages[entry.matchMask === BASE_AND_OURS ? THEIRS : OURS];
  entry.isGone = entry.result.mode === 0;
  if (entry.isGone) entry.isClean = true;
}

function isUncontested({ hasFileFolderConflict, hasPathConflict }: Entry): boolean {
  return !hasFileFolderConflict && !hasPathConflict;
}
