import { z } from 'zod';
import { textOf } from '../git/bytes.js';
import { readCommit } from '../git/commit.js';
import { formatDate } from '../git/identity.js';
import { numberOf, type ObjectReader, type Oid } from '../git/object.js';
import { formatMode, MODE_GITLINK } from '../git/tree.js';
import { Problem, problem } from '../http/problem.js';
import { json } from '../http/reply.js';
import { operation } from '../operation.js';
import type { Repository } from '../repositories/repository.js';
import { flag } from './fields.js';
import { cursorsOf, dropFirst, listPurpose, pageQuery, readLimit, takePage } from './paging.js';
import { type ResolvedRef, resolveRef } from './resolve.js';
import { entryType, listUnder, readFolder } from './tree-listing.js';

const PAGE = 200;
const CAP = 1000;

const fileEntry = z.object({
  path: z.string(),
  mode: z.string(),
  size: z.int(),
  last_commit_sha: z.string(),
  type: z.enum(['blob', 'symlink', 'submodule']),
});

const commitSummary = z.object({ author: z.string(), date: z.string(), message: z.string() });

interface Position {
  readonly commit: Oid;
  readonly skip: number;
}

export const fileMetadata = operation({
  id: 'fileMetadata',
  group: 'Files',
  summary: 'Show size, mode and last commit of every file',
  routes: [
    { method: 'GET', path: '/api/repos/{repo_name}/files/metadata' },
    { method: 'GET', path: '/api/v1/repos/files/metadata' },
  ],
  scopes: ['git:read'],
  subject: 'repository',
  effect: 'read',
  dialect: 'error',
  head: false,
  // Newer clients narrow the list to `path`; they send `recursive` as well, which makes no difference.
  query: z.object({
    ...pageQuery,
    ref: z.string().optional(),
    ephemeral: flag.optional(),
    path: z.string().optional(),
  }),
  replies: {
    200: z.object({ files: z.array(fileEntry), commits: z.record(z.string(), commitSummary), ref: z.string() }),
  },
  errors: [400, 404, 405, 408, 429, 500, 503],
  handle: async (call) => {
    const { world, repository, query } = call;
    const { objects, history } = repository.git;
    const paged =
      world.variants.metadataPagination === 'on-request' && (query.cursor !== undefined || query.limit !== undefined);
    const cursors = cursorsOf(world);
    const path = readFolder(query.path);
    const purpose = listPurpose(call, 'fileMetadata', query.ref ?? '', query.ephemeral ?? false, path);
    const position = paged && query.cursor !== undefined ? cursors.read<Position>(purpose, query.cursor) : undefined;
    const resolved = resolveForMetadata(repository, query.ref, query.ephemeral ?? false);
    const commit = position?.commit ?? resolved.commit;
    const limit = paged ? readLimit(query.limit, CAP, PAGE) : Number.POSITIVE_INFINITY;
    const skip = position?.skip ?? 0;
    const listed = listUnder(objects, readCommit(objects, commit).tree, path, true);
    const touched = await history.lastTouching(commit, { under: path });
    const { page, hasMore } = takePage(dropFirst(listed, skip), limit);
    const files = page.map((file) => ({
      path: textOf(file.path),
      mode: formatMode(file.mode),
      size: file.mode === MODE_GITLINK ? 0 : objects.sizeOf(numberOf(objects, file.oid)),
      last_commit_sha: touched.get(file.path) ?? commit,
      type: entryType(file.mode),
    }));
    return json(200, {
      files,
      commits: summarize(objects, new Set(files.map((file) => file.last_commit_sha)), world.limits.maxMetadataCommits),
      ref: resolved.shown,
      ...(paged
        ? {
            next_cursor: hasMore
              ? cursors.write(purpose, { commit, skip: skip + page.length } satisfies Position)
              : null,
            has_more: hasMore,
          }
        : {}),
    });
  },
});

/** One summary per distinct commit. Past `most` the answer is 429, which waiting does not cure: no rate fields. */
function summarize(
  objects: ObjectReader,
  commits: ReadonlySet<Oid>,
  most: number,
): Record<Oid, z.infer<typeof commitSummary>> {
  if (commits.size > most) {
    throw problem(
      'rate_limited',
      `The files were last touched by ${commits.size} distinct commits; at most ${most} are expanded.`,
    );
  }
  return Object.fromEntries(
    Array.from(commits, (oid) => {
      const { author, message } = readCommit(objects, oid);
      return [oid, { author: author.name, date: formatDate(author), message }];
    }),
  );
}

/** Without `ref`: the default branch, then HEAD, then `main`. A branch missing in the ephemeral namespace is 400 here. */
function resolveForMetadata(repository: Repository, ref: string | undefined, ephemeral: boolean): ResolvedRef {
  try {
    return resolveRef(repository, { ref, ephemeral });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'ref_not_found') throw error;
    if (ephemeral) throw problem('bad_request', error.detail);
    const main = ref === undefined || ref === '' ? repository.git.refs.get('refs/heads/main') : undefined;
    if (main === undefined) throw error;
    return { commit: main, shown: 'main' };
  }
}
