import { z } from 'zod';
import { textOf } from '../../git/object/bytes.js';
import { readCommit } from '../../git/object/commit.js';
import { BLOB, readStepsAs } from '../../git/object/object.js';
import { findEntry } from '../../git/object/read-tree.js';
import { MODE_GITLINK, MODE_TREE } from '../../git/object/tree.js';
import { respondConditionally } from '../../http/conditional.js';
import { Problem, problem } from '../../http/problem.js';
import type { HandlerContext } from '../../operation/handler-context.js';
import { operation, routesOfRepository } from '../../operation/operation.js';
import { inSlices } from '../../schedule/steps.js';
import { contentTypeOf } from '../content-type.js';
import { flag, readFilePath } from '../fields.js';
import { type RefContext, type RefQuestion, type ResolvedRef, resolveRef } from '../resolve.js';

export const readFile = operation({
  group: 'Files',
  summary: 'Read a file',
  routes: routesOfRepository('GET', 'file'),
  query: () =>
    z.object({
      path: z.string('is required'),
      ref: z.string().optional(),
      ephemeral: flag().optional(),
      ephemeral_base: flag().optional(),
    }),
  replies: () => ({ 200: 'application/octet-stream', 206: 'application/octet-stream', 304: '' }),
  errors: ['ref_not_found', 'not_found', 'precondition_failed', 'range_not_satisfiable'],
  handle: async (ctx) => {
    const { repository, query, header, meter } = ctx;
    const path = readFilePath(query.path, 'path');
    const { git } = repository;
    const { commit } = await resolveForFile(ctx, { ref: query.ref, ephemeral: query.ephemeral });
    const entry = await inSlices(findEntry(git.objects, readCommit(git.objects, commit).tree, path), meter);
    if (!entry || entry.mode === MODE_TREE || entry.mode === MODE_GITLINK) {
      const detail = `There is no file ${textOf(path)} at ${query.ref || 'the default branch'}.`;
      throw problem('not_found', detail, { variant: 'missingFile' });
    }
    const body = await inSlices(readStepsAs(git.objects, entry.oid, BLOB), meter);
    const touched = (await git.history.lastModified(commit, meter, path)).get(path) ?? commit;
    return respondConditionally(
      {
        etag: `"${entry.oid}"`,
        lastModified: readCommit(git.objects, touched).committer.seconds,
        body,
        headers: {
          'content-type': await contentTypeOf(textOf(path), body),
          'x-blob-sha': entry.oid,
          'x-last-commit-sha': touched,
          // A repository's HTML must never run with the rights of this origin.
          'x-content-type-options': 'nosniff',
          'content-security-policy': "default-src 'none'; sandbox",
        },
      },
      header,
      ctx.method,
    );
  },
});

/** Two tables list two statuses for a ref that the ephemeral namespace does not have. */
async function resolveForFile(
  ctx: RefContext & Pick<HandlerContext, 'world'>,
  question: RefQuestion,
): Promise<ResolvedRef> {
  try {
    const { tagRefs } = ctx.world.variants;
    return await resolveRef(ctx, { ...question, tags: tagRefs === 'accepted' || tagRefs === 'file-only' });
  } catch (error) {
    const isMissing = error instanceof Problem && error.code === 'ref_not_found' && question.ephemeral === true;
    throw isMissing && ctx.world.variants.missingEphemeralRef === '400' ? problem('bad_request', error.detail) : error;
  }
}
