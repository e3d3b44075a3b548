import { runSync, type Steps } from '../../schedule/steps.js';
import { isBinary } from '../object/binary.js';
import type { ByteString } from '../object/bytes.js';
import { numberOf, type ObjectReader, type Oid, ZERO_OID } from '../object/object.js';
import { fileType, MODE_GITLINK, type PathEntry } from '../object/tree.js';
import type { Change } from './change.js';
import { lineCount, splitLines } from './file-lines.js';
import { LineInterner } from './line-interner.js';
import { diffPair } from './lines.js';
import { type PatchOptions, writePatch } from './patch.js';
import type { FileChange } from './renames.js';
import { similarityPercent } from './similarity.js';
import { isUtf8 } from './utf8.js';

export interface FileDiffOptions extends PatchOptions {
  /** If true, ignores changes in the amount of white space, as `git diff -b` does. */
  readonly ignoreSpaceChange?: boolean | undefined;
}

/**
 * Git's status letter of a changed file. `R` (renamed) is followed by the similarity in percent, for example `R100`.
 */
export type FileState = 'A' | 'D' | 'M' | 'T' | `R${string}`;

/** Result of comparing the old and the new content of a file. The contents are not kept. */
interface Comparison {
  readonly changes: readonly Change[];
  /**
   * Start positions of the lines in the old and the new content, as in `FileLines`. A single 0 if the content was not
   * split into lines.
   */
  readonly oldStarts: Int32Array;
  readonly newStarts: Int32Array;
  readonly isBinary: boolean;
  readonly additions: number;
  readonly deletions: number;
}

const NO_LINES = new Int32Array(1);

/**
 * Changed file in a diff. Comparing the old and the new content is expensive, so it is done only once. Either `compare`
 * does it, or the first access to a property that needs the result.
 */
export class FileDiff {
  readonly state: FileState;
  /** Path of the file after the change, or before the change for a deleted file. */
  readonly path: ByteString;
  /** Path before the change; set only for renames. */
  readonly oldPath?: ByteString;
  #result: Comparison | undefined;

  constructor(
    private readonly objects: ObjectReader,
    private readonly change: FileChange,
    private readonly options: FileDiffOptions = {},
  ) {
    const { before, after } = change;
    this.state = stateOf(change);
    this.path = (after ?? before!).path;
    if (this.state.startsWith('R')) this.oldPath = before!.path;
  }

  /** Mode of the file before the change; 0 if the file was added. */
  get oldMode(): number {
    return this.change.before?.mode ?? 0;
  }

  get newMode(): number {
    return this.change.after?.mode ?? 0;
  }

  /** Object id of the old content; all zeros if the file was added. */
  get oldOid(): Oid {
    return this.change.before?.oid ?? ZERO_OID;
  }

  get newOid(): Oid {
    return this.change.after?.oid ?? ZERO_OID;
  }

  /** Size of the file before the change, in bytes. */
  get oldSize(): number {
    return sizeOf(this.objects, this.change.before);
  }

  get newSize(): number {
    return sizeOf(this.objects, this.change.after);
  }

  /** True if the old or the new content is binary. The numbers of added and deleted lines are then 0. */
  get isBinary(): boolean {
    return this.#compare().isBinary;
  }

  get additions(): number {
    return this.#compare().additions;
  }

  get deletions(): number {
    return this.#compare().deletions;
  }

  /** True if the patch is empty because only ignored white space differs (`git diff -b`). */
  get isUnchanged(): boolean {
    if (this.state !== 'M' || this.oldMode !== this.newMode) return false;
    const { changes, isBinary } = this.#compare();
    return !isBinary && changes.length === 0;
  }

  /** Returns the patch of the file as `patch` does, but without yielding to the event loop. */
  raw(): Buffer {
    return runSync(this.patch());
  }

  /**
   * Computes the patch of the file, byte for byte as `git diff` prints it. A change of the file type, for example from
   * a file to a symbolic link, gives a deletion and a creation.
   */
  *patch(): Steps<Buffer> {
    const { change, objects, options } = this;
    if (this.state === 'T') {
      const deleted = yield* new FileDiff(objects, { before: change.before! }, options).patch();
      const created = yield* new FileDiff(objects, { after: change.after! }, options).patch();
      return Buffer.concat([deleted, created]);
    }
    yield* this.compare();
    const { changes, oldStarts, newStarts } = this.#compare();
    const [oldBytes, newBytes] = this.#contents();
    const isText = !options.utf8 || ((yield* isUtf8(oldBytes)) && (yield* isUtf8(newBytes)));
    const isBinary = this.isBinary || !isText;
    const oldFile = { bytes: oldBytes, starts: oldStarts };
    const newFile = { bytes: newBytes, starts: newStarts };
    return yield* writePatch({ ...change, oldFile, newFile, isBinary, changes }, options);
  }

  /**
   * Compares the old and the new content, unless this was done before. Afterwards, the properties can be read without
   * blocking the event loop.
   */
  *compare(): Steps<void> {
    this.#result ??= yield* compareContents(...this.#contents(), this.oldOid === this.newOid, this.options);
  }

  #compare(): Comparison {
    if (!this.#result) runSync(this.compare());
    return this.#result!;
  }

  #contents(): [Buffer, Buffer] {
    return [contentOf(this.objects, this.change.before), contentOf(this.objects, this.change.after)];
  }
}

function stateOf({ before, after, score }: FileChange): FileState {
  if (!before) return 'A';
  if (!after) return 'D';
  if (isOtherKind(before, after)) return 'T';
  if (score === undefined) return 'M';
  return `R${String(similarityPercent(score)).padStart(3, '0')}`;
}

/**
 * Returns true if the two versions have different types (file, symbolic link, submodule) and cannot be compared line by
 * line.
 */
function isOtherKind(before: PathEntry, after: PathEntry): boolean {
  return fileType(before.mode) !== fileType(after.mode);
}

const EMPTY = Buffer.alloc(0);

function contentOf(objects: ObjectReader, side: PathEntry | undefined): Buffer {
  if (!side) return EMPTY;
  if (side.mode === MODE_GITLINK) return Buffer.from(`Subproject commit ${side.oid}\n`);
  return objects.read(numberOf(objects, side.oid));
}

function sizeOf(objects: ObjectReader, side: PathEntry | undefined): number {
  if (!side) return 0;
  return side.mode === MODE_GITLINK ? contentOf(objects, side).length : objects.sizeOf(numberOf(objects, side.oid));
}

function* compareContents(before: Buffer, after: Buffer, isSame: boolean, options: FileDiffOptions): Steps<Comparison> {
  if (isSame || isBinary(before) || isBinary(after)) {
    const isText = !isBinary(before) && !isBinary(after);
    return { changes: [], oldStarts: NO_LINES, newStarts: NO_LINES, isBinary: !isText, additions: 0, deletions: 0 };
  }
  const { changes, oldStarts, newStarts } =
    before.length === 0 || after.length === 0 ? replaceAll(before, after) : yield* compareLines(before, after, options);
  let additions = 0;
  let deletions = 0;
  for (const change of changes) {
    additions += change.newCount;
    deletions += change.oldCount;
  }
  return { changes, oldStarts, newStarts, isBinary: false, additions, deletions };
}

type ComparedLines = Pick<Comparison, 'changes' | 'oldStarts' | 'newStarts'>;

function replaceAll(before: Buffer, after: Buffer): ComparedLines {
  const [oldFile, newFile] = [splitLines(before), splitLines(after)];
  const [oldCount, newCount] = [lineCount(oldFile), lineCount(newFile)];
  const changes = oldCount + newCount === 0 ? [] : [{ oldStart: 0, oldCount, newStart: 0, newCount }];
  return { changes, oldStarts: oldFile.starts, newStarts: newFile.starts };
}

function* compareLines(before: Buffer, after: Buffer, options: FileDiffOptions): Steps<ComparedLines> {
  const interner = new LineInterner(options);
  const pair = yield* interner.pair(before, after);
  const changes = yield* diffPair(interner, pair, { trimTail: options.context === 0 });
  return { changes, oldStarts: pair.old.starts, newStarts: pair.new.starts };
}
