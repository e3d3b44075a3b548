import { z } from 'zod';
import { bytesOf, textOf } from '../git/object/bytes.js';
import { payloadOf, readCommit } from '../git/object/commit.js';
import { formatDate } from '../git/object/identity.js';
import { COMMIT, type ObjectReader, type Oid, readAs } from '../git/object/object.js';
import { lazy } from '../memory/lazy.js';
import type { HandlerContext } from '../operation/operation.js';
import { presentWhen } from '../operation/reply-schema.js';
import type { CommitWritten } from '../repositories/branch-write.js';
import type { Repository } from '../repositories/repository.js';
import { isoTime } from '../time/iso-8601.js';

const HEAD = bytesOf('HEAD');

/** Records that several operations return. Each has a schema, and a function that creates the record. */

export const repositoryRecord = lazy(() =>
  z.object({
    repo_id: z.string(),
    url: z.string().meta({ description: 'The repository name.' }),
    repo_name: z.string(),
    default_branch: z.string(),
    created_at: z.iso.datetime(),
    base_repo: z.object({ provider: z.string(), owner: z.string(), name: z.string() }).optional(),
  }),
);

export function showRepository(repository: Repository): z.infer<ReturnType<typeof repositoryRecord>> {
  const { id, name, createdAt, baseRepo } = repository.record;
  return {
    repo_id: id,
    url: name,
    repo_name: name,
    default_branch: textOf(repository.defaultBranch ?? HEAD),
    created_at: isoTime(createdAt),
    ...(baseRepo ? { base_repo: { provider: baseRepo.provider, owner: baseRepo.owner, name: baseRepo.name } } : {}),
  };
}

export const commitRecord = lazy(() =>
  z.object({
    sha: z.string(),
    message: z.string(),
    author_name: z.string(),
    author_email: z.string(),
    committer_name: z.string(),
    committer_email: z.string(),
    date: z.string().meta({ description: 'The author date, RFC 3339.' }),
    parent_shas: z.array(z.string()),
  }),
);

const SIGNED = 'the commit is signed';

export const signedCommitRecord = lazy(() =>
  commitRecord().extend({
    signature: presentWhen(z.string(), SIGNED),
    payload: presentWhen(z.string(), SIGNED),
  }),
);

export function showCommit(objects: ObjectReader, oid: Oid): z.infer<ReturnType<typeof commitRecord>> {
  const { author, committer, message, parents } = readCommit(objects, oid);
  return {
    sha: oid,
    message,
    author_name: author.name,
    author_email: author.email,
    committer_name: committer.name,
    committer_email: committer.email,
    date: formatDate(author),
    parent_shas: [...parents],
  };
}

/**
 * Returns the record of a commit. If the commit is signed, the record also contains the signature and the signed
 * payload.
 */
export function showSignedCommit(objects: ObjectReader, oid: Oid): z.infer<ReturnType<typeof signedCommitRecord>> {
  const record = showCommit(objects, oid);
  const { signature } = readCommit(objects, oid);
  if (signature === undefined) return record;
  return { ...record, signature, payload: payloadOf(readAs(objects, oid, COMMIT)).toString() };
}

const writtenCommit = lazy(() =>
  z.object({
    commit_sha: z.string(),
    tree_sha: z.string(),
    target_branch: z.string(),
    pack_bytes: z.int(),
  }),
);

export const writeResult = lazy(() =>
  z.object({
    commit: writtenCommit(),
    result: z.object({
      branch: z.string(),
      target_branch: z.string(),
      old_sha: z.string(),
      new_sha: z.string(),
      success: z.boolean(),
      status: z.enum(['ok', 'precondition_failed']),
      message: z.string(),
    }),
  }),
);

/** Schema of the response to a write whose files were sent in chunks. It adds the number of files (`blob_count`). */
export const contentWriteResult = lazy(() =>
  writeResult().extend({ commit: writtenCommit().extend({ blob_count: z.int() }) }),
);

export function showWrite(
  { variants }: Pick<HandlerContext['world'], 'variants'>,
  branch: string,
  written: CommitWritten,
): z.infer<ReturnType<typeof writeResult>> {
  const shown = variants.resultBranch === 'full' ? `refs/heads/${branch}` : branch;
  return {
    commit: {
      commit_sha: written.commit,
      tree_sha: written.tree,
      target_branch: branch,
      pack_bytes: written.packBytes,
    },
    result: {
      branch: shown,
      target_branch: shown,
      old_sha: written.old,
      new_sha: written.commit,
      success: true,
      status: 'ok',
      message: '',
    },
  };
}

/** Returns the response to a write whose files were sent in chunks. `blobs` is the number of those files. */
export function showContentWrite(
  world: Pick<HandlerContext['world'], 'variants'>,
  branch: string,
  written: CommitWritten,
  blobs: number,
): z.infer<ReturnType<typeof contentWriteResult>> {
  const { commit, result } = showWrite(world, branch, written);
  return { commit: { ...commit, blob_count: blobs }, result };
}
