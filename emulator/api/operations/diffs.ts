import { z } from 'zod';
import { type ByteString, bytesOf, textOf } from '../../git/object/bytes.js';
import type { Oid } from '../../git/object/object.js';
import { problem } from '../../http/problem.js';
import { largeJson } from '../../http/reply.js';
import { once } from '../../memory/once.js';
import type { HandlerContext } from '../../operation/handler-context.js';
import { operation, routesOfRepository } from '../../operation/operation.js';
import { diffBody, diffOrRefuse, KeptDiffs, type ShownDiff, showDiff } from '../diff-records.js';
import { flag, readFilePath } from '../fields.js';
import { resolveRef } from '../resolve.js';
import { tipOf } from './branches.js';

const MAIN = bytesOf('main');

const paths = once(() => z.array(z.string()).optional());

/** Two spellings of one flag; the first counts. */
const applyFlags = once(() => ({
  git_apply_compatible: flag()
    .meta({ description: 'Whether `git apply` has to take the joined `raw` values, and make the very bytes of them.' })
    .optional(),
  gitApplyCompatible: flag().optional(),
}));

export const diffBranch = operation({
  group: 'Branches',
  summary: 'Compare a branch with where it left its base',
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

export const diffCommits = operation({
  group: 'Commits',
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
    if (ref.trim() === '') throw problem('bad_request', 'sha is required.');
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

/** The paths a diff is narrowed to; an empty one is the root. */
function readPaths(texts: readonly string[] = []): ByteString[] {
  return texts.map((text) => (text === '' ? bytesOf('') : readFilePath(text, 'path')));
}

function readApplies(query: { git_apply_compatible?: boolean | undefined; gitApplyCompatible?: boolean | undefined }) {
  return query.git_apply_compatible ?? query.gitApplyCompatible ?? false;
}

interface Comparison {
  readonly paths: readonly ByteString[];
  /**
   * Whether `git apply` has to take the patches: white space counts, binary files are written out, and so are files
   * that JSON cannot carry as text.
   */
  readonly applies: boolean;
}

async function compare(
  { repository, meter }: Pick<HandlerContext, 'repository' | 'meter'>,
  before: Oid | undefined,
  after: Oid,
  { paths, applies }: Comparison,
): Promise<ShownDiff> {
  const { objects, history } = repository.git;
  const [oldTree, newTree] = [before && history.commit(before).tree, history.commit(after).tree];
  const { answers } = repository.content;
  const kept = answers.shared(KeptDiffs, () => new KeptDiffs(answers));
  const key = JSON.stringify([repository.id, oldTree ?? '', newTree, applies, paths]);
  const known = kept.get(key);
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
