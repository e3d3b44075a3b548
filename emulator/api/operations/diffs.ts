import { z } from 'zod';
import { type Diff, type DiffStats, diffTrees } from '../../git/diff/diff.js';
import type { FileDiff } from '../../git/diff/file-diff.js';
import { TooManyChanges } from '../../git/diff/trees.js';
import { type ByteString, bytesOf, textOf } from '../../git/object/bytes.js';
import { type ObjectReader, type Oid, ZERO_OID } from '../../git/object/object.js';
import { problem, translateError } from '../../http/problem.js';
import { largeJson } from '../../http/reply.js';
import { lazy } from '../../memory/lazy.js';
import type { CacheGroup, CacheRegion } from '../../memory/memory-cache.js';
import { type HandlerContext, operationsOf, routesOfRepository } from '../../operation/operation.js';
import type { Meter } from '../../schedule/meter.js';
import { runYielding } from '../../schedule/steps.js';
import { flag, readFilePath } from '../fields.js';
import { resolveRef } from '../resolve.js';
import { tipOf } from './branches.js';

const MAIN = bytesOf('main');

const paths = lazy(() => z.array(z.string()).optional());

/**
 * Query parameters that request patches for `git apply`. Both names have the same meaning; the first takes precedence.
 */
const applyFlags = lazy(() => ({
  git_apply_compatible: flag()
    .meta({
      description:
        'Whether the joined `raw` values are a patch that `git apply` accepts and that results in exactly the new bytes.',
    })
    .optional(),
  gitApplyCompatible: flag().optional(),
}));

export const diffBranch = operationsOf('Branches')({
  summary: 'Compare a branch with the merge base of the branch and its base',
  routes: routesOfRepository('GET', 'branches/diff'),
  query: () =>
    z.object({
      branch: z.string(),
      base: z.string().optional(),
      ephemeral: flag().optional(),
      ephemeral_base: flag().optional(),
      ...applyFlags(),
      path: paths(),
    }),
  repeated: ['path'],
  replies: () => ({
    200: z.object({ branch: z.string(), base: z.string(), merge_base_sha: z.string().optional(), ...diffBody() }),
  }),
  errors: ['branch_not_found', 'unprocessable_entity', 'gateway_timeout'],
  work: { limit: 'searchTimeout' },
  handle: async (ctx) => {
    const { repository, query } = ctx;
    const paths = readPaths(query.path);
    const tip = tipOf(repository, query.branch, query.ephemeral);
    const baseName = query.base ?? textOf(repository.defaultBranch ?? MAIN);
    const base = tipOf(repository, baseName, query.ephemeral_base);
    const { history } = repository.git;
    await history.extend([tip, base], ctx.meter);
    const [mergeBase] = history.mergeBases(base, tip);
    const shown = await compare(ctx, mergeBase, tip, { paths, applies: readApplies(query) });
    return largeJson(200, {
      branch: query.branch,
      base: baseName,
      ...(mergeBase === undefined ? {} : { merge_base_sha: mergeBase }),
      ...shown,
    });
  },
});

export const diffCommits = operationsOf('Commits')({
  summary: 'Show what a commit changed, or how it differs from a base',
  routes: routesOfRepository('GET', 'diff'),
  query: () =>
    z.object({
      ref: z.string().optional(),
      sha: z.string().optional(),
      base_ref: z.string().optional(),
      base_sha: z.string().optional(),
      baseSha: z.string().optional(),
      ...applyFlags(),
      ref_is_ephemeral: flag().optional(),
      base_is_ephemeral: flag().optional(),
      path: paths(),
    }),
  repeated: ['path'],
  replies: () => ({
    200: z.object({
      sha: z.string(),
      base_sha: z.string().optional(),
      merge_base_sha: z.string().optional(),
      ...diffBody(),
    }),
  }),
  errors: ['ref_not_found', 'unprocessable_entity', 'gateway_timeout'],
  work: { limit: 'searchTimeout' },
  handle: async (ctx) => {
    const { repository, query } = ctx;
    const ref = query.ref ?? query.sha ?? '';
    if (ref.trim() === '')
      throw problem('bad_request', 'The query parameter sha is required: a branch, tag or commit.');
    const paths = readPaths(query.path);
    const { history } = repository.git;
    const { commit } = await resolveRef(ctx, { ref, ephemeral: query.ref_is_ephemeral });
    const baseRef = query.base_ref ?? query.base_sha ?? query.baseSha;
    const named = baseRef
      ? (await resolveRef(ctx, { ref: baseRef, ephemeral: query.base_is_ephemeral })).commit
      : undefined;
    const base = named ?? history.commit(commit).parents[0];
    await history.extend(named === undefined ? [commit] : [commit, named], ctx.meter);
    const mergeBase = named === undefined ? undefined : history.mergeBases(named, commit)[0];
    const before = ctx.world.variants.diffBase === 'merge-base' ? (mergeBase ?? base) : base;
    const shown = await compare(ctx, before, commit, { paths, applies: readApplies(query) });
    return largeJson(200, {
      sha: commit,
      base_sha: base ?? '',
      merge_base_sha: mergeBase ?? '',
      ...shown,
    });
  },
});

/** Returns the paths to which the request restricts a diff. An empty path is the root and selects all files. */
function readPaths(texts: readonly string[] = []): ByteString[] {
  return texts.map((text) => (text === '' ? bytesOf('') : readFilePath(text, 'path')));
}

function readApplies(query: { git_apply_compatible?: boolean | undefined; gitApplyCompatible?: boolean | undefined }) {
  return query.git_apply_compatible ?? query.gitApplyCompatible ?? false;
}

/**
 * Returns the diff between the trees of two commits, from the cache if possible. `before` is undefined to compare with
 * an empty tree. `applies` is true if `git apply` must accept the patches. White space is then significant, and a
 * binary patch is used for each file that JSON cannot represent as text.
 */
async function compare(
  { repository, meter }: Pick<HandlerContext, 'repository' | 'meter'>,
  before: Oid | undefined,
  after: Oid,
  { paths, applies }: { readonly paths: readonly ByteString[]; readonly applies: boolean },
): Promise<ShownDiff> {
  const { objects, history } = repository.git;
  const [oldTree, newTree] = [before && history.commit(before).tree, history.commit(after).tree];
  const { responses } = repository.content;
  const kept = responses.shared(KeptDiffs, () => new KeptDiffs(responses));
  const key = JSON.stringify([repository.id, oldTree ?? '', newTree, applies, paths]);
  const known = kept.shown.get(key);
  if (known !== undefined) return known;
  const diff = await diffOrRefuse(objects, oldTree, newTree, {
    meter,
    ignoreSpaceChange: !applies,
    binary: applies,
    utf8: applies,
    ...(paths.length > 0 ? { paths } : {}),
  });
  const shown = await showDiff(objects, diff, paths.length > 0, meter);
  kept.keep(key, shown);
  return shown;
}

/**
 * Limits of the patch of one file: size in bytes, and number of changed lines. A file above a limit is listed without a
 * patch, unless the request names its path.
 */
const MAX_PATCH_BYTES = 500_000;
const MAX_CHANGED_LINES = 2_000;

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

const filteredFile = lazy(() =>
  z.object({
    path: z.string(),
    state: z.string().meta({ description: "Git's status letter; a rename has its similarity, such as R054." }),
    old_path: z.string().optional(),
    bytes: z.int().meta({ description: 'Size of the patch; of a filtered file, the size of its content.' }),
    is_eof: z.boolean().meta({ description: 'Whether the file ends with a newline.' }),
  }),
);

const diffFile = lazy(() =>
  filteredFile().extend({ raw: z.string(), additions: z.int().optional(), deletions: z.int().optional() }),
);

const diffBody = lazy(() => ({
  stats: z.object({ files: z.int(), additions: z.int(), deletions: z.int(), changes: z.int() }),
  files: z.array(diffFile()),
  filtered_files: z.array(filteredFile()),
}));

type FilteredFile = z.infer<ReturnType<typeof filteredFile>>;
/**
 * Changed file as the handler returns it. The patch is a buffer, because it can be large. The response writer encodes
 * it as text piece by piece.
 */
type DiffFile = Omit<z.infer<ReturnType<typeof diffFile>>, 'raw'> & { readonly raw: Buffer };

interface ShownDiff {
  readonly stats: DiffStats;
  readonly files: readonly DiffFile[];
  readonly filtered_files: readonly FilteredFile[];
}

/**
 * Maximum total size of the patches in a cached diff, in bytes. Larger diffs are not cached, because copying them takes
 * long.
 */
const MAX_KEPT = 1024 * 1024;
/** Approximate memory of one file in a cached diff, in bytes, without its patch. */
const FILE_BYTES = 1024;

/**
 * Cache of diffs as the API returns them. A key contains the ids of both trees and the options. Entries never become
 * outdated, because trees never change.
 */
class KeptDiffs {
  readonly shown: CacheRegion<string, ShownDiff>;

  constructor(responses: CacheGroup) {
    this.shown = responses.region(costOfDiff);
  }

  keep(key: string, shown: ShownDiff): void {
    if (patchBytes(shown) > MAX_KEPT) return;
    // The patches are copied to a new buffer. Otherwise the cache would keep the larger buffers in memory of which they
    // are parts.
    const patches = Buffer.concat(shown.files.map(({ raw }) => raw));
    let at = 0;
    const files = shown.files.map((file) => {
      const raw = patches.subarray(at, at + file.raw.length);
      at += raw.length;
      return { ...file, raw };
    });
    this.shown.set(key, { ...shown, files });
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

/** Returns the diff of two trees. Throws `unprocessable_entity` if there are too many changes. */
export function diffOrRefuse(...given: Parameters<typeof diffTrees>): Promise<Diff> {
  return translateError(
    TooManyChanges,
    () => diffTrees(...given),
    ({ message }) => problem('unprocessable_entity', `The diff is too large: ${message}.`),
  );
}

/**
 * Converts a diff to the form in which the API returns it. Large files, binary files and lock files are listed
 * separately without patches. `everything` is true to show all patches, because the request names paths. Yields to the
 * event loop; throws `WorkLimitExceeded`.
 */
async function showDiff(objects: ObjectReader, diff: Diff, everything: boolean, meter: Meter): Promise<ShownDiff> {
  const files: DiffFile[] = [];
  const filtered: FilteredFile[] = [];
  for (const file of diff.files) {
    if (meter.shouldYield) await meter.yieldToEventLoop();
    const raw = everything || !isUnshown(file) ? await runYielding(file.patch(), meter) : undefined;
    if (raw === undefined || (!everything && raw.length > MAX_PATCH_BYTES)) {
      filtered.push(describe(objects, file, Math.max(file.oldSize, file.newSize)));
    } else {
      const { additions, deletions } = file;
      files.push({ ...describe(objects, file, raw.length), raw, additions, deletions });
    }
  }
  return { stats: diff.stats, files, filtered_files: filtered };
}

function isUnshown(file: FileDiff): boolean {
  return file.isBinary || file.additions + file.deletions > MAX_CHANGED_LINES || isLockFile(file.path);
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

/** Returns true if a file is empty or ends with a newline. For a deleted file, the old version is checked. */
function endsWithNewline(objects: ObjectReader, file: FileDiff): boolean {
  const number = objects.find(file.newOid === ZERO_OID ? file.oldOid : file.newOid);
  return number < 0 || objects.sizeOf(number) === 0 || objects.read(number).at(-1) === 0x0a;
}
