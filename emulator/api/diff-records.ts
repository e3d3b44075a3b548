import { z } from 'zod';
import { type Diff, type DiffStats, diffTrees } from '../git/diff/diff.js';
import type { FileDiff } from '../git/diff/file-diff.js';
import { TooManyChanges } from '../git/diff/trees.js';
import { type ByteString, textOf } from '../git/object/bytes.js';
import { type ObjectReader, ZERO_OID } from '../git/object/object.js';
import { problem } from '../http/problem.js';
import { translateError } from '../http/translate-error.js';
import type { CacheGroup, CacheRegion } from '../memory/memory-cache.js';
import { once } from '../memory/once.js';
import type { Meter } from '../schedule/meter.js';
import { inSlices } from '../schedule/steps.js';

/** Above these a file is named but not shown, unless its path was asked for. */
const MOST_PATCH_BYTES = 500_000;
const MOST_CHANGED_LINES = 2_000;

const LOCK_FILES = new Set([
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'Cargo.lock',
  'Gemfile.lock',
  'composer.lock',
  'poetry.lock',
  'uv.lock',
  'Pipfile.lock',
  'go.sum',
  'flake.lock',
]);

const filteredFile = once(() =>
  z.object({
    path: z.string(),
    state: z.string().meta({ description: "Git's letter; a rename carries its similarity, as in R054." }),
    old_path: z.string().optional(),
    bytes: z.int().meta({ description: 'Of the patch; of a filtered file, of its content.' }),
    is_eof: z.boolean().meta({ description: 'Whether the file ends with a newline.' }),
  }),
);

const diffFile = once(() =>
  filteredFile().extend({ raw: z.string(), additions: z.int().optional(), deletions: z.int().optional() }),
);

export const diffBody = once(() => ({
  stats: z.object({ files: z.int(), additions: z.int(), deletions: z.int(), changes: z.int() }),
  files: z.array(diffFile()),
  filtered_files: z.array(filteredFile()),
}));

type FilteredFile = z.infer<ReturnType<typeof filteredFile>>;
/** A patch can be as large as the files it is of, and stays bytes. */
type DiffFile = Omit<z.infer<ReturnType<typeof diffFile>>, 'raw'> & { readonly raw: Buffer };

export interface ShownDiff {
  readonly stats: DiffStats;
  readonly files: readonly DiffFile[];
  readonly filtered_files: readonly FilteredFile[];
}

/** Patches of more bytes together are not kept, and would take long to copy. */
const MOST_KEPT = 1024 * 1024;
/** About what one file takes beside its patch. */
const FILE_BYTES = 1024;

/** Diffs that were shown before, by keys of the caller's, who says of which trees, and how: trees never change. */
export class KeptDiffs {
  readonly #shown: CacheRegion<string, ShownDiff>;

  constructor(answers: CacheGroup) {
    this.#shown = answers.region(costOfDiff);
  }

  get(key: string): ShownDiff | undefined {
    return this.#shown.get(key);
  }

  keep(key: string, shown: ShownDiff): void {
    if (patchBytes(shown) > MOST_KEPT) return;
    // A patch lies in memory that has room for more.
    const patches = Buffer.concat(shown.files.map(({ raw }) => raw));
    let at = 0;
    const files = shown.files.map((file) => {
      const raw = patches.subarray(at, at + file.raw.length);
      at += raw.length;
      return { ...file, raw };
    });
    this.#shown.set(key, { ...shown, files });
  }
}

function patchBytes({ files }: ShownDiff): number {
  let bytes = 0;
  for (const { raw } of files) bytes += raw.length;
  return bytes;
}

function costOfDiff(shown: ShownDiff): number {
  return patchBytes(shown) + (1 + shown.files.length + shown.filtered_files.length) * FILE_BYTES;
}

/** As `diffTrees`. Throws `unprocessable_entity` for too many changes. */
export function diffOrRefuse(...given: Parameters<typeof diffTrees>): Promise<Diff> {
  return translateError(
    TooManyChanges,
    () => diffTrees(...given),
    ({ message }) => problem('unprocessable_entity', `The diff is too large: ${message}.`),
  );
}

/**
 * A diff as the wire has it. Large, binary and lock files are listed apart without their patch, except with
 * `everything`: who names paths wants to see them. Works in slices; throws `WorkLimitExceeded`.
 */
export async function showDiff(
  objects: ObjectReader,
  diff: Diff,
  everything: boolean,
  meter: Meter,
): Promise<ShownDiff> {
  const files: DiffFile[] = [];
  const filtered: FilteredFile[] = [];
  for (const file of diff.files) {
    if (meter.isOver) await meter.pass();
    const raw = everything || !isUnshown(file) ? await inSlices(file.patch(), meter) : undefined;
    if (raw === undefined || (!everything && raw.length > MOST_PATCH_BYTES)) {
      filtered.push(describe(objects, file, Math.max(file.oldSize, file.newSize)));
    } else {
      const { additions, deletions } = file;
      files.push({ ...describe(objects, file, raw.length), raw, additions, deletions });
    }
  }
  return { stats: diff.stats, files, filtered_files: filtered };
}

function isUnshown(file: FileDiff): boolean {
  return file.isBinary || file.additions + file.deletions > MOST_CHANGED_LINES || isLockFile(file.path);
}

function isLockFile(path: ByteString): boolean {
  return LOCK_FILES.has(path.slice(path.lastIndexOf('/') + 1));
}

function describe(objects: ObjectReader, file: FileDiff, bytes: number): FilteredFile {
  return {
    path: textOf(file.path),
    state: file.state,
    ...(file.oldPath === undefined ? {} : { old_path: textOf(file.oldPath) }),
    bytes,
    is_eof: endsWithNewline(objects, file),
  };
}

/** Of a deleted file, whether it did. */
function endsWithNewline(objects: ObjectReader, file: FileDiff): boolean {
  const number = objects.find(file.newOid === ZERO_OID ? file.oldOid : file.newOid);
  return number < 0 || objects.sizeOf(number) === 0 || objects.read(number).at(-1) === 0x0a;
}
