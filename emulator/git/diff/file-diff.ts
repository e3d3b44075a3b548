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
  /** As `git diff -b`. */
  readonly ignoreSpaceChange?: boolean | undefined;
}

/** Git's letter for a kind of change, behind `R` the similarity in percent: `R100`. */
export type FileState = 'A' | 'D' | 'M' | 'T' | `R${string}`;

/** What a comparison of the two contents is kept of: not the contents themselves. */
interface Comparison {
  readonly changes: readonly Change[];
  /** Where the lines start, as in `FileLines`; empty of files that were not split into lines. */
  readonly oldStarts: Int32Array;
  readonly newStarts: Int32Array;
  readonly isBinary: boolean;
  readonly additions: number;
  readonly deletions: number;
}

const NO_LINES = new Int32Array(1);

/** One changed file. The contents are compared by `compare`, else when first asked about; and once. */
export class FileDiff {
  readonly state: FileState;
  /** After the change; of a deleted file, before it. */
  readonly path: ByteString;
  /** Of renames only. */
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

  /** 0 where there is no file. */
  get oldMode(): number {
    return this.change.before?.mode ?? 0;
  }

  get newMode(): number {
    return this.change.after?.mode ?? 0;
  }

  /** All zeros where there is no file. */
  get oldOid(): Oid {
    return this.change.before?.oid ?? ZERO_OID;
  }

  get newOid(): Oid {
    return this.change.after?.oid ?? ZERO_OID;
  }

  /** Bytes of the file before and after. */
  get oldSize(): number {
    return sizeOf(this.objects, this.change.before);
  }

  get newSize(): number {
    return sizeOf(this.objects, this.change.after);
  }

  /** Whether one of the two is not text: there are no lines to count then. */
  get isBinary(): boolean {
    return this.#compare().isBinary;
  }

  get additions(): number {
    return this.#compare().additions;
  }

  get deletions(): number {
    return this.#compare().deletions;
  }

  /** Modified only in white space, when that was to be ignored: `git diff -b` does not show such files. */
  get isUnchanged(): boolean {
    if (this.state !== 'M' || this.oldMode !== this.newMode) return false;
    const { changes, isBinary } = this.#compare();
    return !isBinary && changes.length === 0;
  }

  /** The patch, all at once. */
  raw(): Buffer {
    return runSync(this.patch());
  }

  /**
   * The patch, byte for byte what `git diff` prints, in steps. A file that became a link (or the like) is deleted and
   * created there, in two patches.
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

  /** Compares the contents, in steps. */
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

/** Whether one is a file, the other a link or gitlink; there is no line by line between those. */
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
