import { z } from 'zod';
import { diffOrRefuse } from '../api/operations/diffs.js';
import type { Diff } from '../git/diff/diff.js';
import type { FileDiff } from '../git/diff/file-diff.js';
import { type Oid, ZERO_OID } from '../git/object/object.js';
import { formatMode } from '../git/object/tree.js';
import type { Repository } from '../repositories/repository.js';
import type { Meter } from '../schedule/meter.js';
import { runYielding } from '../schedule/steps.js';
import { exactBytes, named, pathQuery, readBytes } from './repository-records.js';

/** Diffs of commits as the admin routes return them, with the patch of each changed file. */

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

export const commitDiff = z.object({
  oid: z.string(),
  base: z
    .string()
    .nullable()
    .meta({ description: 'Commit with which `oid` is compared, such as its parent; null for an empty tree.' }),
  stats: z.object({ files: z.int(), additions: z.int(), deletions: z.int(), changes: z.int() }),
  files: z.array(changedFile),
  is_truncated: z.boolean().meta({ description: 'True if files are omitted.' }),
});

export type CommitDiff = z.infer<typeof commitDiff>;

/** Query parameters that restrict a diff to one file. */
export const fileQuery = {
  ...pathQuery,
  old_path: z.string().optional().meta({ description: 'Previous path of a renamed file, in addition to path.' }),
  old_path_bytes: pathQuery.path_bytes,
};

type FileQuery = { readonly [Name in keyof typeof fileQuery]?: string | undefined };

/**
 * Returns the changes from the tree of the commit `base` to the tree of the commit `oid`. If `base` is undefined, `oid`
 * is compared with an empty tree. If the query names a file, only this file is compared.
 */
export async function showDiff(
  { git: { objects, history } }: Repository,
  { base, oid }: { readonly base: Oid | undefined; readonly oid: Oid },
  query: FileQuery,
  meter: Meter,
): Promise<CommitDiff> {
  const paths = [
    readBytes(query.path, query.path_bytes, 'path'),
    readBytes(query.old_path, query.old_path_bytes, 'old_path'),
  ].filter((path) => path !== undefined);
  const diff = await diffOrRefuse(objects, base && history.commit(base).tree, history.commit(oid).tree, {
    meter,
    ...(paths.length > 0 && { paths }),
  });
  const files = await showFiles(diff, paths.length > 0 ? MAX_PATCH_BYTES : MAX_BYTES_OF_FILE, meter);
  return { oid, base: base ?? null, stats: diff.stats, files, is_truncated: files.length < diff.files.length };
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
