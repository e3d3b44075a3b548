import { z } from 'zod';
import { takeLongPage } from '../api/paging.js';
import { eachNote } from '../git/notes/note-tree.js';
import { type ByteString, bytesOf, sliceBytes, textOf } from '../git/object/bytes.js';
import { type ObjectReader, type Oid, typeName } from '../git/object/object.js';
import { findCommit, findTree } from '../git/object/tag.js';
import { problem } from '../http/problem.js';
import { largeJson } from '../http/reply.js';
import { inSlices, runSync } from '../schedule/steps.js';
import { listOf, listQuery, readPageLimit, writeList } from './lists.js';
import { exactBytes, named } from './repository-records.js';
import { findRepository, inOrganization } from './repository-target.js';
import { adminRoute } from './route.js';

/** Where the refs of a namespace are: `git help namespaces`. */
const NAMESPACES = 'refs/namespaces/';
const NAMESPACE = /^refs\/namespaces\/[^/]+\//;

/** What a ref is by where it is; of those in a namespace, by where it is there. */
const KINDS = {
  branch: 'refs/heads/',
  tag: 'refs/tags/',
  note: 'refs/notes/',
  other: 'refs/',
} as const;

type RefKind = keyof typeof KINDS;

const refRecord = z.object({
  name: z.string(),
  name_bytes: exactBytes,
  short: z.string().meta({ description: 'The name without the place of its namespace and of its kind.' }),
  kind: z.enum(Object.keys(KINDS) as [RefKind, ...RefKind[]]),
  namespace: z.string().nullable().meta({
    description: 'The namespace that it is in, such as ephemeral; null for those that every remote shows.',
  }),
  oid: z.string(),
  type: z.string(),
  commit: z.string().nullable().meta({ description: 'The commit that it leads to, by way of tags.' }),
  created_at: z.iso.datetime(),
});

function placeOf(name: ByteString): Pick<z.infer<typeof refRecord>, 'short' | 'kind' | 'namespace'> {
  const place = NAMESPACE.exec(name)?.[0].length ?? 0;
  const inside = sliceBytes(name, place);
  const kind = (Object.keys(KINDS) as RefKind[]).find((each) => inside.startsWith(KINDS[each])) ?? 'other';
  return {
    short: textOf(sliceBytes(inside, inside.startsWith(KINDS[kind]) ? KINDS[kind].length : 0)),
    kind,
    namespace: place === 0 ? null : textOf(sliceBytes(name, NAMESPACES.length, place - 1)),
  };
}

export const showRefs = adminRoute({
  id: 'showRefs',
  method: 'GET',
  path: '/repositories/{name}/refs',
  summary: 'List the refs of a repository by name, all namespaces included',
  access: 'token',
  query: z.strictObject({ ...listQuery, ...inOrganization, prefix: z.string().optional() }),
  replies: { 200: listOf(refRecord) },
  errors: ['not_found'],
  handle: (ctx) => {
    const repository = findRepository(ctx);
    const { objects, refs } = repository.git;
    const prefix = ctx.query.prefix ?? '';
    return writeList(ctx, {
      of: ['refs', repository.id, prefix],
      items: refs.entries(bytesOf(prefix)),
      keyOf: ([name]) => name,
      show: ([name, { oid, createdAt }]): z.infer<typeof refRecord> => ({
        ...named('name', name),
        ...placeOf(name),
        oid,
        ...leadsTo(objects, oid),
        created_at: new Date(createdAt).toISOString(),
      }),
    });
  },
});

function leadsTo(objects: ObjectReader, oid: Oid): Pick<z.infer<typeof refRecord>, 'type' | 'commit'> {
  const number = objects.find(oid);
  if (number < 0) return { type: 'missing', commit: null };
  return { type: typeName(objects.typeOf(number)), commit: runSync(findCommit(objects, oid)) ?? null };
}

const NOTES = bytesOf('refs/notes/commits');

export const showNotes = adminRoute({
  id: 'showNotes',
  method: 'GET',
  path: '/repositories/{name}/notes',
  summary: 'List the notes of a notes ref: what each is of, and its blob',
  access: 'token',
  query: z.strictObject({
    ...listQuery,
    ...inOrganization,
    ref: z.string().optional().meta({ description: 'The full name; default refs/notes/commits.' }),
  }),
  replies: { 200: listOf(z.object({ target: z.string(), note: z.string() })) },
  errors: ['not_found'],
  handle: async (ctx) => {
    const { world, query, meter } = ctx;
    const repository = findRepository(ctx);
    const { objects, refs } = repository.git;
    const { cursors } = world.engine;
    const purpose = JSON.stringify(['admin', 'notes', repository.id, query.ref]);
    const given = query.cursor === undefined ? undefined : cursors.read<readonly [Oid, number]>(purpose, query.cursor);
    const tip = refs.get(query.ref === undefined ? NOTES : bytesOf(query.ref));
    if (query.ref !== undefined && tip === undefined)
      throw problem('not_found', `There is no ref ${JSON.stringify(query.ref)}.`);
    const [tree, skip] = given ?? [tip && (await inSlices(findTree(objects, tip), meter)), 0];
    const notes = tree === undefined ? [] : eachNote(objects, tree);
    const { page, hasMore } = await takeLongPage(notes, readPageLimit(query), meter, skip);
    return largeJson(200, {
      items: page.map(([target, note]) => ({ target, note })),
      next_cursor: hasMore ? cursors.write(purpose, [tree, skip + page.length]) : null,
      has_more: hasMore,
    });
  },
});
