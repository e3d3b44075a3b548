import { z } from 'zod';
import { flag } from '../api/fields.js';
import { largeJson } from '../http/reply.js';
import { commitDiff, fileQuery, showDiff } from './repository-diff.js';
import {
  commitLine,
  findRepository,
  inOrganization,
  refQuery,
  resolveCommit,
  showCommitLine,
} from './repository-records.js';
import { adminRoute } from './route.js';

/** Maximum number of commits in the response. `ahead` has the number of all commits. */
const MAX_COMMITS = 100;

const comparison = z.object({
  base: z.string().meta({ description: 'Commit to which the query parameter base resolves.' }),
  head: z.string().meta({ description: 'Commit to which the query parameter head resolves.' }),
  merge_base: z
    .string()
    .nullable()
    .meta({ description: 'Best common ancestor, the first of `git merge-base --all`; null if there is none.' }),
  ahead: z.int().meta({ description: 'Number of commits that are reachable only from head.' }),
  behind: z.int().meta({ description: 'Number of commits that are reachable only from base.' }),
  commits: z
    .array(z.object({ oid: z.string(), ...commitLine }))
    .meta({ description: `First ${MAX_COMMITS} commits of \`git log base..head\`.` }),
  diff: commitDiff.nullable().meta({
    description: 'Changes from merge_base to head, or from base to head if direct is true; null without merge_base.',
  }),
});

export type Comparison = z.infer<typeof comparison>;

export const compareCommits = adminRoute({
  path: '/repositories/{name}/compare',
  summary: 'Compare two commits: the commits that only one of them has, and the changes since their merge base',
  query: z.strictObject({
    ...inOrganization,
    ...fileQuery,
    base: refQuery.ref,
    head: refQuery.ref,
    direct: flag().optional().meta({
      description: 'True for the changes since base itself (`git diff base head`, not `git diff base...head`).',
    }),
  }),
  replies: { 200: comparison },
  errors: ['not_found', 'ref_not_found', 'unprocessable_entity', 'gateway_timeout'],
  handle: async (ctx) => {
    const { query, meter } = ctx;
    const repository = findRepository(ctx);
    const { objects, history } = repository.git;
    const base = await resolveCommit(repository, query.base, meter);
    const head = await resolveCommit(repository, query.head, meter);
    await history.extend([base, head], meter);
    const [mergeBase] = history.mergeBases(base, head);
    const { ahead, behind } = history.aheadBehind(head, base);
    const first = query.direct ? base : mergeBase;
    return largeJson(200, {
      base,
      head,
      merge_base: mergeBase ?? null,
      ahead,
      behind,
      commits: history.logSince(base, head, MAX_COMMITS).map((oid) => ({ oid, ...showCommitLine(objects, oid) })),
      diff: first === undefined ? null : await showDiff(repository, { base: first, oid: head }, query, meter),
    });
  },
});
