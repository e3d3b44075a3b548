import { z } from 'zod';
import { type ByteString, bytesOf, concatBytes, sliceBytes, textOf } from '../../git/object/bytes.js';
import { isOid, type ObjectReader, type Oid, ZERO_OID } from '../../git/object/object.js';
import { peelTags } from '../../git/object/tag.js';
import { describeRefNameIssue, readTagName } from '../../git/refs/ref-name.js';
import { problem } from '../../http/problem.js';
import { json, type Reply } from '../../http/reply.js';
import { lazy } from '../../memory/lazy.js';
import { type HandlerContext, operationsOf, routesOfRepository } from '../../operation/operation.js';
import { transact } from '../../repositories/branch-write.js';
import type { Meter } from '../../schedule/meter.js';
import { runYielding } from '../../schedule/steps.js';
import { OF_TAG } from '../named-git-data.js';
import { openList, pageEnd, pageQuery } from '../paging.js';
import { requireAllowed } from '../policy.js';
import { resolveRef } from '../resolve.js';
import { deleteRef } from './branches.js';

const operation = operationsOf('Tags');

const PREFIX = bytesOf('refs/tags/');
const NO_NAME = bytesOf('');

const tagRecord = lazy(() => z.object({ name: z.string(), sha: z.string() }));

/** Schema of a tag in a list. For an annotated tag, `sha` is the commit to which the tag points, not the tag object. */
const listedTag = lazy(() => tagRecord().extend({ cursor: z.string() }));

async function showTag(
  objects: ObjectReader,
  name: ByteString,
  oid: Oid,
  meter: Meter,
): Promise<z.infer<ReturnType<typeof tagRecord>>> {
  return { name: textOf(name), sha: await runYielding(peelTags(objects, oid), meter) };
}

function readTag(text: string): ByteString {
  const reading = readTagName(text);
  if (reading.issue === undefined) return concatBytes(PREFIX, reading.name);
  throw problem('bad_request', `name ${describeRefNameIssue(reading.issue)}.`);
}

function tagNotFound(name: string) {
  return problem('ref_not_found', `Tag ${name} does not exist.`);
}

export const listTags = operation({
  summary: 'List the tags by name',
  routes: routesOfRepository('GET', 'tags'),
  query: () => z.object(pageQuery()),
  replies: () => ({ 200: z.object({ tags: z.array(listedTag()), ...pageEnd() }) }),
  handle: async (ctx) => {
    const { repository, query } = ctx;
    const { refs, objects } = repository.git;
    const list = openList<ByteString>(ctx, query, ['listTags', repository.id]);
    const start = concatBytes(PREFIX, list.position ?? NO_NAME);
    const following = function* () {
      for (const entry of refs.entries(PREFIX)) yield entry[0] > start ? entry : undefined;
    };
    const { page, end } = await list.take(following(), ([ref]) => sliceBytes(ref, PREFIX.length));
    const tags: z.infer<ReturnType<typeof listedTag>>[] = [];
    for (const [ref, { oid }] of page) {
      const name = sliceBytes(ref, PREFIX.length);
      tags.push({ cursor: list.cursorAt(name), ...(await showTag(objects, name, oid, ctx.meter)) });
    }
    return json(200, { tags, ...end });
  },
});

export const getTag = operation({
  summary: 'Show one tag',
  routes: routesOfRepository('GET', 'tag'),
  query: () => z.object({ name: z.string() }),
  replies: () => ({ 200: z.object({ tag: tagRecord() }) }),
  errors: ['ref_not_found'],
  handle: async ({ repository, query, meter }) => {
    const ref = readTag(query.name);
    const oid = repository.git.refs.get(ref);
    if (oid === undefined) throw tagNotFound(query.name);
    return json(200, { tag: await showTag(repository.git.objects, sliceBytes(ref, PREFIX.length), oid, meter) });
  },
});

const createBody = lazy(() =>
  z.object({ name: z.string(), ref: z.string().optional(), target: z.string().optional() }),
);

/**
 * Returns the revision that the new tag points to. `ref` can be any revision and takes precedence. The older member
 * `target` must be a full object id.
 */
function readRevision({ ref, target }: z.infer<ReturnType<typeof createBody>>): string {
  const revision = ref ?? target;
  if (!revision) throw problem('bad_request', 'ref or target is required: what the tag shall point to.');
  if (ref === undefined && !isOid(revision)) {
    throw problem('bad_request', 'target must be a full commit id: 40 lower-case hexadecimal digits.');
  }
  return revision;
}

export const createTag = operation({
  summary: 'Create a lightweight tag',
  routes: routesOfRepository('POST', 'tags'),
  body: createBody,
  names: OF_TAG,
  replies: () => ({ 200: z.object({ name: z.string(), sha: z.string(), message: z.string() }) }),
  errors: ['ref_not_found', 'conflict'],
  handle: async (ctx) => {
    const { repository, body } = ctx;
    const ref = readTag(body.name);
    const target = readRevision(body);
    requireAllowed(ctx, ref);
    const { commit } = await resolveRef(ctx, { ref: target });
    await transact(repository, (transaction) => transaction.update({ name: ref, old: ZERO_OID, new: commit }));
    return json(200, { name: body.name, sha: commit, message: 'tag created' });
  },
});

const deleted = lazy(() => z.object({ name: z.string(), message: z.string() }));

async function removeTag(ctx: Pick<HandlerContext, 'repository' | 'claims'>, name: string): Promise<Reply> {
  await deleteRef(ctx, readTag(name), () => tagNotFound(name));
  return json(200, { name, message: 'tag deleted' });
}

export const deleteTag = operation({
  summary: 'Delete a tag named in the path',
  routes: [{ method: 'DELETE', path: '/api/repos/{repo_name}/tags/{tag}' }],
  scopes: ['git:read', 'git:write'],
  names: OF_TAG,
  replies: () => ({ 200: deleted() }),
  errors: ['ref_not_found'],
  handle: (ctx) => removeTag(ctx, ctx.params.tag!),
});

export const deleteTagByBody = operation({
  summary: 'Delete a tag named in the body',
  routes: [{ method: 'DELETE', path: '/api/v1/repos/tags' }],
  scopes: ['git:read', 'git:write'],
  body: () => z.object({ name: z.string() }),
  names: OF_TAG,
  replies: () => ({ 200: deleted() }),
  errors: ['ref_not_found'],
  handle: (ctx) => removeTag(ctx, ctx.body.name),
});
