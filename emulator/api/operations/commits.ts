import { z } from 'zod';
import type { Oid } from '../../git/object/object.js';
import { problem } from '../../http/problem.js';
import { largeJson } from '../../http/reply.js';
import { operationsOf, routesOfRepository } from '../../operation/operation.js';
import { flag, readFilePath } from '../fields.js';
import { mapped, openList, pageEnd, pageQuery } from '../paging.js';
import { commitRecord, showCommit, showSignedCommit, signedCommitRecord } from '../records.js';
import { resolveRef } from '../resolve.js';

const operation = operationsOf('Commits');

export const getCommit = operation({
  summary: 'Show one commit',
  routes: routesOfRepository('GET', 'commit'),
  query: () =>
    z.object({ ref: z.string().optional(), sha: z.string().optional(), ref_is_ephemeral: flag().optional() }),
  replies: () => ({ 200: z.object({ commit: signedCommitRecord() }) }),
  errors: ['ref_not_found'],
  handle: async (ctx) => {
    const { repository, query } = ctx;
    const ref = query.ref ?? query.sha ?? '';
    if (ref.trim() === '')
      throw problem('bad_request', 'The query parameter sha is required: a branch, tag or commit.');
    const { commit } = await resolveRef(ctx, { ref, ephemeral: query.ref_is_ephemeral, missing: 'missingCommit' });
    return largeJson(200, { commit: showSignedCommit(repository.git.objects, commit) });
  },
});

export const listCommits = operation({
  summary: 'List commits, newest first',
  routes: routesOfRepository('GET', 'commits'),
  query: () =>
    z.object({
      ...pageQuery(),
      ref: z.string().optional(),
      branch: z.string().optional(),
      ephemeral: flag().optional(),
      ref_is_ephemeral: flag().optional(),
      path: z.string().optional(),
    }),
  replies: () => ({ 200: z.object({ commits: z.array(commitRecord()), ...pageEnd() }) }),
  errors: ['ref_not_found'],
  handle: async (ctx) => {
    const { repository, query, meter } = ctx;
    const { git } = repository;
    const ref = query.ref ?? query.branch;
    const path = query.path ? readFilePath(query.path, 'path') : undefined;
    const ephemeral = query.ref_is_ephemeral ?? query.ephemeral ?? false;
    const selection = [repository.id, ref ?? '', ephemeral, path ?? ''];
    // The cursor contains the commit at which the list started. A push between two pages therefore does not change the
    // list.
    const list = openList<Position>(ctx, query, ['listCommits', ...selection]);
    const tip = list.position?.tip ?? (await resolveRef(ctx, { ref, ephemeral })).commit;
    const skip = list.position?.skip ?? 0;
    await git.history.extend([tip], meter);
    const log = git.history.logEach({ tips: [tip], ...(path === undefined ? {} : { path }) });
    const { page, end } = await list.take(log, (_, count) => ({ tip, skip: count }), skip);
    return largeJson(200, {
      commits: mapped(page, (oid) => showCommit(git.objects, oid)),
      ...end,
    });
  },
});

interface Position {
  readonly tip: Oid;
  readonly skip: number;
}
