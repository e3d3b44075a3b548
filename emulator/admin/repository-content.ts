import { z } from 'zod';
import { blameOrRefuse } from '../api/operations/blame.js';
import { diffOrRefuse } from '../api/operations/diffs.js';
import type { BlamedLines } from '../git/blame/blamed-lines.js';
import type { Diff } from '../git/diff/diff.js';
import type { FileDiff } from '../git/diff/file-diff.js';
import { requestLimit } from '../git/limits/request-limits.js';
import { type ByteString, NO_BYTES, textOf } from '../git/object/bytes.js';
import { BLOB, type Oid, ZERO_OID } from '../git/object/object.js';
import { findEntry } from '../git/object/read-tree.js';
import { formatMode } from '../git/object/tree.js';
import { problem } from '../http/problem.js';
import { json, largeJson } from '../http/reply.js';
import type { Meter } from '../schedule/meter.js';
import { runYielding } from '../schedule/steps.js';
import {
  commitLine,
  exactBytes,
  findRepository,
  inOrganization,
  named,
  pathQuery,
  readBytes,
  readContent,
  refQuery,
  requireCommit,
  resolveCommit,
  showCommitLine,
  shownContent,
  typeOfMode,
} from './repository-records.js';
import { adminRoute } from './route.js';

/** Maximum number of files in a diff response. Further files are omitted. */
const MAX_FILES = 1000;
/** Maximum total size of the patches in a diff response, in bytes. Further patches are truncated. */
const MAX_PATCH_BYTES = 2 * 1024 * 1024;
/**
 * Maximum size of the patch of one file, in bytes. A longer patch is truncated, unless the request names the file's
 * path.
 */
const MAX_BYTES_OF_FILE = 256 * 1024;

const changedFile = z.object({
  path: z.string(),
  path_bytes: exactBytes,
  old_path: z.string().optional().meta({ description: 'Previous path of a renamed file.' }),
  old_path_bytes: exactBytes,
  state: z
    .string()
    .meta({ description: "Git's status letter; followed by the similarity for a rename, such as R054." }),
  old_mode: z.string().nullable(),
  mode: z.string().nullable(),
  old_oid: z.string().nullable(),
  oid: z.string().nullable(),
  old_size: z.int(),
  size: z.int(),
  is_binary: z.boolean(),
  additions: z.int(),
  deletions: z.int(),
  patch: z
    .string()
    .meta({ description: 'Patch as `git diff --full-index` prints it; bytes that are not UTF-8 are U+FFFD.' }),
  is_truncated: z.boolean().meta({ description: 'True if the patch is truncated, after a line feed if it has one.' }),
});

export type ChangedFile = z.infer<typeof changedFile>;

const commitDiff = z.object({
  oid: z.string(),
  base: z.string().nullable().meta({ description: 'Parent with which the commit is compared; null if it has none.' }),
  stats: z.object({ files: z.int(), additions: z.int(), deletions: z.int(), changes: z.int() }),
  files: z.array(changedFile),
  is_truncated: z.boolean().meta({ description: 'True if files are omitted.' }),
});

export type CommitDiff = z.infer<typeof commitDiff>;

export const showCommitDiff = adminRoute({
  path: '/repositories/{name}/commits/{oid}/diff',
  summary:
    'Show the changes of a commit against one of its parents (the first by default), or against nothing if it has none',
  query: z.strictObject({
    ...inOrganization,
    ...pathQuery,
    old_path: z.string().optional().meta({ description: 'Previous path of a renamed file, in addition to path.' }),
    old_path_bytes: pathQuery.path_bytes,
    parent: z.string().optional().meta({ description: 'Number of the parent of a merge, from 1.' }),
  }),
  replies: { 200: commitDiff },
  errors: ['not_found', 'unprocessable_entity', 'gateway_timeout'],
  handle: async (ctx) => {
    const { query, meter } = ctx;
    const repository = findRepository(ctx);
    const { objects, history } = repository.git;
    const oid = requireCommit(repository, ctx.params.oid!);
    const paths = [
      readBytes(query.path, query.path_bytes, 'path'),
      readBytes(query.old_path, query.old_path_bytes, 'old_path'),
    ].filter((path) => path !== undefined);
    const { tree, parents } = history.commit(oid);
    const base = parents[readParent(query.parent, parents.length) - 1];
    const diff = await diffOrRefuse(objects, base && history.commit(base).tree, tree, {
      meter,
      ...(paths.length > 0 && { paths }),
    });
    const files = await showFiles(diff, paths.length > 0 ? MAX_PATCH_BYTES : MAX_BYTES_OF_FILE, meter);
    const isTruncated = files.length < diff.files.length;
    return largeJson(200, { oid, base: base ?? null, stats: diff.stats, files, is_truncated: isTruncated });
  },
});

function readParent(text: string | undefined, parents: number): number {
  if (text === undefined) return 1;
  if (/^[1-9]\d{0,9}$/.test(text) && Number(text) <= parents) return Number(text);
  const allowed =
    parents === 0 ? 'the commit has no parents' : parents === 1 ? 'must be 1' : `must be from 1 to ${parents}`;
  throw problem('bad_request', parents === 0 ? `parent cannot be given: ${allowed}.` : `parent ${allowed}.`);
}

async function showFiles({ files }: Diff, maxOfFile: number, meter: Meter): Promise<ChangedFile[]> {
  const shown: ChangedFile[] = [];
  let remaining = MAX_PATCH_BYTES;
  for (const file of files.slice(0, MAX_FILES)) {
    const patch = remaining > 0 ? await runYielding(file.patch(), meter) : undefined;
    const available = Math.min(remaining, maxOfFile);
    const part = patch?.subarray(
      0,
      patch.length <= available ? undefined : patch.lastIndexOf(0x0a, available - 1) + 1 || available,
    );
    remaining -= part?.length ?? 0;
    shown.push(showFile(file, part?.toString() ?? '', part?.length !== patch?.length || patch === undefined));
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
  return shown;
}

function showFile(file: FileDiff, patch: string, isTruncated: boolean): ChangedFile {
  const { path, oldPath, oldMode, newMode, oldOid, newOid } = file;
  return {
    ...named('path', path),
    ...(oldPath !== undefined && named('old_path', oldPath)),
    state: file.state,
    old_mode: oldMode === 0 ? null : formatMode(oldMode),
    mode: newMode === 0 ? null : formatMode(newMode),
    old_oid: oldOid === ZERO_OID ? null : oldOid,
    oid: newOid === ZERO_OID ? null : newOid,
    old_size: file.oldSize,
    size: file.newSize,
    is_binary: file.isBinary,
    additions: file.additions,
    deletions: file.deletions,
    patch,
    is_truncated: isTruncated,
  };
}

const foundContent = z.object({
  commit: z.string(),
  path: z.string(),
  path_bytes: exactBytes,
  type: z.enum(['tree', 'blob', 'commit']),
  mode: z.string(),
  oid: z.string(),
  ...z.object(shownContent).partial().shape,
});

export type FoundContent = z.infer<typeof foundContent>;

export const showContent = adminRoute({
  path: '/repositories/{name}/content',
  summary: 'Show what a path contains at a ref: a blob, at most its first MiB, or the id of a folder or submodule',
  query: z.strictObject({ ...inOrganization, ...refQuery, ...pathQuery }),
  replies: { 200: foundContent },
  errors: ['not_found', 'ref_not_found'],
  handle: async (ctx) => {
    const { query, meter } = ctx;
    const repository = findRepository(ctx);
    const { objects } = repository.git;
    const path = readBytes(query.path, query.path_bytes, 'path') ?? NO_BYTES;
    const commit = await resolveCommit(repository, query.ref, meter);
    const entry = await runYielding(findEntry(objects, repository.git.history.commit(commit).tree, path), meter);
    if (!entry) throw pathNotFound(path, commit);
    const number = objects.find(entry.oid);
    const isBlob = number >= 0 && objects.typeOf(number) === BLOB;
    return json(200, {
      commit,
      ...named('path', path),
      type: typeOfMode(entry.mode),
      mode: formatMode(entry.mode),
      oid: entry.oid,
      ...(isBlob && (await readContent(objects, number, meter))),
    });
  },
});

function pathNotFound(path: ByteString, commit: Oid) {
  return problem('not_found', `The path ${JSON.stringify(textOf(path))} does not exist in the commit ${commit}.`);
}

const LONGEST_RANGE = requestLimit('blameRangeLength');

const blamedRange = z.object({
  line: z.int().meta({ description: 'Number of the first line, from 1.' }),
  lines: z.int(),
  commit: z.string(),
  original_line: z.int(),
  original_path: z.string(),
  original_path_bytes: exactBytes,
  previous: z.string().optional().meta({ description: 'Parent of the commit that does not have the lines yet.' }),
});

const blameRecord = z.object({
  commit: z.string(),
  path: z.string(),
  path_bytes: exactBytes,
  ranges: z.array(blamedRange),
  commits: z.array(z.object({ oid: z.string(), ...commitLine })),
});

export type Blame = z.infer<typeof blameRecord>;

export const showBlame = adminRoute({
  path: '/repositories/{name}/blame',
  summary: 'Show which commit each line of a file comes from: ranges of lines, and their commits',
  query: z.strictObject({
    ...inOrganization,
    ...refQuery,
    ...pathQuery,
    range: z
      .string()
      .max(LONGEST_RANGE, `must have at most ${LONGEST_RANGE} characters`)
      .optional()
      .meta({ description: 'Lines as for `git blame -L`, such as 1,200.' }),
  }),
  replies: { 200: blameRecord },
  errors: ['not_found', 'ref_not_found', 'gateway_timeout'],
  handle: async (ctx) => {
    const { query, meter } = ctx;
    const repository = findRepository(ctx);
    const path = readBytes(query.path, query.path_bytes, 'path');
    if (path === undefined) throw problem('bad_request', 'path is required: the file to blame.');
    const commit = await resolveCommit(repository, query.ref, meter);
    const ranges = query.range === undefined ? undefined : [query.range];
    const blamed = await blameOrRefuse(ctx, repository, { commit, path, ranges }, () => pathNotFound(path, commit));
    const { objects } = repository.git;
    return largeJson(200, {
      commit,
      ...named('path', path),
      ranges: showRanges(blamed),
      commits: (function* () {
        for (const oid of new Set(blamed.map((range) => range.commit))) yield { oid, ...showCommitLine(objects, oid) };
      })(),
    });
  },
});

function* showRanges(blamed: readonly BlamedLines[]): Generator<z.infer<typeof blamedRange>> {
  for (const { start, count, commit, originalStart, originalPath, previous } of blamed) {
    yield {
      line: start + 1,
      lines: count,
      commit,
      original_line: originalStart + 1,
      ...named('original_path', originalPath),
      ...(previous && { previous: previous.commit }),
    };
  }
}
