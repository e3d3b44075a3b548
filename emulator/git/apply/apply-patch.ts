import type { Meter } from '../../schedule/meter.js';
import { runSync, runYielding, type Steps } from '../../schedule/steps.js';
import { requestLimit } from '../limits/request-limits.js';
import { type ByteString, bytesOf, NO_BYTES, replaceBytes, sliceBytes, textOf } from '../object/bytes.js';
import { BLOB, isOid, numberOf, type ObjectReader, type Oid, ZERO_OID } from '../object/object.js';
import { hashObject } from '../object/object-hash.js';
import { describePathIssue, pathIssue } from '../object/path.js';
import { findEntry } from '../object/read-tree.js';
import {
  fileType,
  formatMode,
  MODE_EXECUTABLE,
  MODE_FILE,
  MODE_GITLINK,
  MODE_SYMLINK,
  MODE_TREE,
} from '../object/tree.js';
import { DeltaError, patchDelta } from '../pack/patch-delta.js';
import type { BinaryHunk, FilePatch } from './file-patch.js';
import { Image, type SearchBudget } from './image.js';
import { parsePatch } from './parse-patch.js';
import { PatchError } from './patch-error.js';

/** One changed file in the result of a patch: deleted, or written with new content. A result names each path once. */
export type PatchedFile =
  | { readonly path: ByteString; readonly delete: true }
  | { readonly path: ByteString; readonly delete?: false; readonly mode: number; readonly bytes: Buffer }
  | { readonly path: ByteString; readonly delete?: false; readonly mode: number; readonly oid: Oid };

export interface ApplyOptions {
  readonly meter: Meter;
  /**
   * Limit for finding hunks that do not match at their stated lines. It is the number of line positions that may be
   * tried, for all hunks of the patch together.
   */
  readonly searchLimit?: number | undefined;
}

/** State of one file after the file patches that have been applied so far. */
interface File {
  readonly mode: number;
  /**
   * Object id of the content. It is undefined if a patch has changed the content, because the new content is not stored
   * yet.
   */
  readonly oid?: Oid;
  readonly bytes: Buffer;
}

const MAX_FILE_BYTES = requestLimit('patchFileBytes');
const EMPTY = Buffer.alloc(0);
const UNDERSCORE = bytesOf('_');

/**
 * Applies a patch to a tree as `git apply --cached --binary` does, completely or not at all. Returns the changed files.
 *
 * A hunk may match at other lines than its header states, but all its lines must match exactly. Throws `PatchError`
 * with Git's wording, and `WorkLimitExceeded`.
 */
export async function applyPatch(
  objects: ObjectReader,
  tree: Oid,
  patch: Buffer,
  options: ApplyOptions,
): Promise<PatchedFile[]> {
  const { meter } = options;
  const patches = await runYielding(parsePatch(patch), meter);
  if (patches.length === 0 && /\S/.test(patch.toString('latin1', 0, 1000))) {
    throw new PatchError('malformed', 'No valid patches in input');
  }
  const target = new PatchTarget(objects, tree, patches, { left: options.searchLimit ?? requestLimit('patchPlaces') });
  await runYielding(target.apply(patches), meter);
  return target.changes();
}

class PatchTarget {
  /**
   * Paths that any file patch deletes or renames. New files may take these paths, even if the patch that frees them
   * comes later.
   */
  readonly #leaving = new Set<ByteString>();
  readonly #links = { kept: new Set<ByteString>(), removed: new Set<ByteString>() };
  /** Files changed by the file patches that have been applied so far, by path. Deleted files are undefined. */
  readonly #files = new Map<ByteString, File | undefined>();
  /**
   * Result of all file patches: deleted paths (`#gone`) and written files (`#written`). A path in both sets counts as
   * written, whichever patch came first.
   */
  readonly #gone = new Set<ByteString>();
  readonly #written = new Map<ByteString, File>();

  constructor(
    private readonly objects: ObjectReader,
    private readonly tree: Oid,
    patches: readonly FilePatch[],
    private readonly budget: SearchBudget,
  ) {
    for (const patch of patches) {
      const { oldPath, newPath, oldMode, newMode, isRename, isDelete } = patch;
      if (oldPath !== undefined && leaves(patch)) this.#leaving.add(oldPath);
      const isGone = isRename || isDelete !== false;
      if (oldPath !== undefined && isGone && fileType(oldMode) === MODE_SYMLINK) this.#links.removed.add(oldPath);
      if (newPath !== undefined && fileType(newMode) === MODE_SYMLINK) this.#links.kept.add(newPath);
    }
  }

  *apply(patches: readonly FilePatch[]): Steps<void> {
    for (const patch of patches) {
      yield* this.#apply(patch);
      yield 1;
    }
  }

  /** Applies the patch of one file, as Git's `check_patch` and `write_out_one_result` do. */
  *#apply(patch: FilePatch): Steps<void> {
    // Header lines in an unusual order can describe a new file that also has an old path. Git fails with an assertion
    // for such a header; this function reports an error.
    if (patch.isNew && patch.oldPath !== undefined) {
      throw new PatchError('malformed', `inconsistent header for ${textOf(patch.oldPath)}`);
    }
    const before = this.#preimage(patch);
    if (!before && patch.isNew === undefined) {
      patch.isNew = true;
      patch.isDelete = false;
      patch.oldPath = undefined;
    }
    const { oldPath, newPath, isCopy } = patch;
    const mode = this.#newMode(patch, before);
    if (newPath !== undefined) this.#checkTarget(patch, newPath, mode);
    if (oldPath !== undefined && !isCopy) this.#checkPath(oldPath);

    const file = yield* this.#patched(patch, before, mode);
    if (newPath !== undefined) this.#files.set(newPath, file);
    if (oldPath !== undefined && leaves(patch)) this.#files.set(oldPath, undefined);
    if (patch.isDelete && file.bytes.length > 0) throw mismatch('removal patch leaves file contents');
    if (oldPath !== undefined && !isCopy) this.#gone.add(oldPath);
    if (newPath === undefined || patch.isDelete) return;
    // The submodule id is checked even if a later patch replaces the file. Git writes the file at this point and would
    // fail too.
    if (mode === MODE_GITLINK) gitlinkIn(newPath, file.bytes);
    this.#written.set(newPath, file);
  }

  changes(): PatchedFile[] {
    const deleted = [...this.#gone].filter((path) => !this.#written.has(path));
    const written = [...this.#written].map(([path, file]): PatchedFile => {
      if (file.mode === MODE_GITLINK) return { path, mode: file.mode, oid: gitlinkIn(path, file.bytes) };
      return file.oid ? { path, mode: file.mode, oid: file.oid } : { path, mode: file.mode, bytes: file.bytes };
    });
    return [...deleted.map((path): PatchedFile => ({ path, delete: true })), ...written];
  }

  /** Returns the current state of the file that the patch changes; undefined if the patch creates a file. */
  #preimage(patch: FilePatch): File | undefined {
    const path = patch.oldPath;
    if (path === undefined) return undefined;
    let file: File | undefined;
    if (this.#files.has(path) && !patch.isCopy && !patch.isRename) {
      file = this.#files.get(path);
      if (!file) throw mismatch(`path ${textOf(path)} has been renamed/deleted`);
    } else {
      file = this.#stored(path);
    }
    if (!file) {
      if (patch.isNew === undefined) return undefined;
      throw mismatch(`${textOf(path)}: does not exist in index`);
    }
    if (patch.oldMode !== 0 && fileType(patch.oldMode) !== fileType(file.mode)) {
      throw mismatch(`${textOf(path)}: wrong type`);
    }
    return file;
  }

  #stored(path: ByteString): File | undefined {
    const entry = path === '' ? undefined : runSync(findEntry(this.objects, this.tree, path));
    if (!entry || entry.mode === MODE_TREE) return undefined;
    const { mode, oid } = entry;
    if (mode === MODE_GITLINK) return { mode, oid, bytes: Buffer.from(`Subproject commit ${oid}\n`) };
    return { mode, oid, bytes: this.objects.read(numberOf(this.objects, oid)) };
  }

  #newMode(patch: FilePatch, before: File | undefined): number {
    const mode = patch.newMode || (before?.mode ?? MODE_FILE);
    // A patch may state the mode of a folder. Git would then write a submodule entry (gitlink) whose id is a blob. This
    // project refuses such a patch instead.
    if (fileType(mode) === MODE_TREE) throw new PatchError('malformed', `invalid mode ${formatMode(mode)}`);
    if (before && patch.newPath !== undefined && fileType(before.mode) !== fileType(mode)) {
      const [name, oldMode] = [textOf(patch.newPath), formatMode(before.mode)];
      throw mismatch(`new mode (${formatMode(mode)}) of ${name} does not match old mode (${oldMode})`);
    }
    return canonicalMode(mode);
  }

  /**
   * Throws `PatchError` if a file cannot be written to the path: a file exists there already, or one of the path's
   * folders is a symbolic link.
   */
  #checkTarget(patch: FilePatch, path: ByteString, mode: number): void {
    if (!patch.isDelete) this.#checkPath(path, mode);
    const isCreated = patch.isNew || patch.isRename || patch.isCopy;
    if (isCreated && !this.#mayReplace(path) && this.#exists(path)) {
      throw mismatch(`${textOf(path)}: already exists in index`);
    }
    if (patch.isDelete) return;
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const folder = sliceBytes(path, 0, slash);
      if (this.#links.kept.has(folder) || (!this.#links.removed.has(folder) && this.#isStoredLink(folder))) {
        throw mismatch(`affected file '${textOf(path)}' is beyond a symbolic link`);
      }
    }
  }

  /**
   * Throws `PatchError` if the path is invalid. Two exceptions follow Git: a path may contain a line feed, and a path
   * that is too long is accepted if the tree contains it already.
   */
  #checkPath(path: ByteString, mode?: number): void {
    const issue = pathIssue(
      replaceBytes(path, /\n/g, () => UNDERSCORE),
      mode,
    );
    const isLong = issue === 'too-long' || issue === 'long-name';
    if (!issue || (isLong && this.#exists(path))) return;
    throw new PatchError('malformed', `invalid path '${textOf(path)}': it ${describePathIssue(issue)}`);
  }

  /**
   * Returns true if a new file may be written to the path. A path that a later patch renames counts as free, because
   * two files may swap their names.
   */
  #mayReplace(path: ByteString): boolean {
    return this.#files.has(path) ? this.#files.get(path) === undefined : this.#leaving.has(path);
  }

  #exists(path: ByteString): boolean {
    const entry = runSync(findEntry(this.objects, this.tree, path));
    return entry !== undefined && entry.mode !== MODE_TREE;
  }

  #isStoredLink(path: ByteString): boolean {
    return runSync(findEntry(this.objects, this.tree, path))?.mode === MODE_SYMLINK;
  }

  *#patched(patch: FilePatch, before: File | undefined, mode: number): Steps<File> {
    const bytes = before?.bytes ?? EMPTY;
    const path = textOf(patch.oldPath ?? patch.newPath ?? NO_BYTES);
    if (patch.isBinary) return { mode, bytes: yield* this.#patchedBinary(patch, bytes, path) };
    if (patch.hunks.length === 0) return { mode, bytes, ...(before?.oid && { oid: before.oid }) };
    const image = yield* Image.of(bytes, this.budget);
    for (const hunk of patch.hunks) {
      if (!(yield* image.apply(hunk))) {
        throw mismatch(`patch failed: ${path}:${hunk.oldStart}\n${path}: patch does not apply`);
      }
      yield 1;
    }
    return { mode, bytes: yield* image.result() };
  }

  /**
   * Applies a binary patch. Its `index` line must contain full ids. They must equal the ids of the old and the new
   * content.
   */
  *#patchedBinary(patch: FilePatch, before: Buffer, path: string): Steps<Buffer> {
    const { oldPath, oldOid, newOid, binary } = patch;
    if (!isOid(oldOid) || !isOid(newOid)) {
      throw mismatch(`cannot apply binary patch to '${path}' without full index line`);
    }
    if (oldPath === undefined ? before.length > 0 : hashObject(BLOB, before) !== oldOid) {
      throw mismatch(
        `the patch applies to '${path}' (${hashObject(BLOB, before)}), which does not match the current contents.`,
      );
    }
    if (newOid === ZERO_OID) return EMPTY;
    const stored = this.objects.find(newOid);
    if (stored >= 0) return this.objects.read(stored);
    if (!binary) throw mismatch(`missing binary patch data for '${path}'`);
    const after = yield* binaryResult(before, binary);
    if (!after) throw mismatch(`binary patch does not apply to '${path}'`);
    const oid = hashObject(BLOB, after);
    if (oid !== newOid) {
      throw mismatch(`binary patch to '${path}' creates incorrect result (expecting ${newOid}, got ${oid})`);
    }
    return after;
  }
}

/**
 * Returns the new content of a binary file. Returns undefined if the delta is malformed or does not fit the old
 * content.
 */
function* binaryResult(before: Buffer, { method, data }: BinaryHunk): Steps<Buffer | undefined> {
  if (method === 'literal') return data;
  try {
    return yield* patchDelta(before, data, MAX_FILE_BYTES);
  } catch (error) {
    if (error instanceof DeltaError) return undefined;
    throw error;
  }
}

function mismatch(message: string): PatchError {
  return new PatchError('mismatch', message);
}

/** Returns true if the patch removes the file from its old path (Git's `add_to_fn_table`). */
function leaves({ newPath, isRename }: FilePatch): boolean {
  return newPath === undefined || isRename;
}

/**
 * Returns the mode with which a tree entry stores any file mode (Git's `create_ce_mode`). There are four: symbolic
 * link, gitlink, executable file and regular file.
 */
function canonicalMode(mode: number): number {
  const kind = fileType(mode);
  if (kind === MODE_SYMLINK || kind === MODE_GITLINK) return kind;
  return mode & 0o100 ? MODE_EXECUTABLE : MODE_FILE;
}

/**
 * Returns the commit id of a submodule from its patched content, `Subproject commit <id>`. Text after the id, such as a
 * carriage return, is ignored.
 */
function gitlinkIn(path: ByteString, bytes: Buffer): Oid {
  const oid = /^Subproject commit ([0-9a-f]{40})/i.exec(bytes.toString('latin1', 0, 100))?.[1]?.toLowerCase();
  if (oid === undefined || !isOid(oid) || oid === ZERO_OID)
    throw mismatch(`corrupt patch for submodule ${textOf(path)}`);
  return oid;
}
