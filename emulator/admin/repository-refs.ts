import { z } from 'zod';
import { openList } from '../api/paging.js';
import { eachNote } from '../git/notes/note-tree.js';
import { type ByteString, bytesOf, sliceBytes, textOf } from '../git/object/bytes.js';
import { type ObjectReader, type Oid, typeName } from '../git/object/object.js';
import { findCommit, findTree } from '../git/object/tag.js';
import { largeJson } from '../http/reply.js';
import { runSync, runYielding } from '../schedule/steps.js';
import { isoTime } from '../time/iso-8601.js';
import { LIST_SIZE, listOf, listQuery, writeList } from './lists.js';
import { exactBytes, findRepository, inOrganization, named } from './repository-records.js';
import { adminRoute, requireFound } from './route.js';

/** Prefix of the refs in ref namespaces (`git help namespaces`). Normal remotes do not show these refs. */
const NAMESPACES = 'refs/namespaces/';
const NAMESPACE = /^refs\/namespaces\/[^/]+\//;

/**
 * Ref prefixes by which the response classifies refs. In a ref namespace, this prefix follows the prefix of the
 * namespace.
 */
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
  short: z.string().meta({ description: 'Name without the prefixes of its ref namespace and its kind.' }),
  kind: z.enum(Object.keys(KINDS) as [RefKind, ...RefKind[]]),
  namespace: z.string().nullable().meta({
    description: 'Ref namespace, such as ephemeral; null for the refs that every remote shows.',
  }),
  oid: z.string(),
  type: z.string(),
  commit: z
    .string()
    .nullable()
    .meta({ description: 'Commit to which the ref leads, through tags if necessary; null if it leads to none.' }),
  created_at: z.iso.datetime(),
});

export type RefRecord = z.infer<typeof refRecord>;

function classify(name: ByteString): Pick<RefRecord, 'short' | 'kind' | 'namespace'> {
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
  path: '/repositories/{name}/refs',
  summary: 'List the refs of a repository by name, including all ref namespaces',
  query: z.strictObject({ ...listQuery, ...inOrganization, prefix: z.string().optional() }),
  replies: { 200: listOf(refRecord) },
  handle: (ctx) => {
    const repository = findRepository(ctx);
    const { objects, refs } = repository.git;
    const prefix = ctx.query.prefix ?? '';
    return writeList(ctx, {
      of: ['refs', repository.id, prefix],
      items: refs.entries(bytesOf(prefix)),
      keyOf: ([name]) => name,
      show: ([name, { oid, createdAt }]): RefRecord => ({
        ...named('name', name),
        ...classify(name),
        oid,
        ...targetOf(objects, oid),
        created_at: isoTime(createdAt),
      }),
    });
  },
});

function targetOf(objects: ObjectReader, oid: Oid): Pick<RefRecord, 'type' | 'commit'> {
  const number = objects.find(oid);
  if (number < 0) return { type: 'missing', commit: null };
  return { type: typeName(objects.typeOf(number)), commit: runSync(findCommit(objects, oid)) ?? null };
}

const NOTES = bytesOf('refs/notes/commits');

type NotesCursor = readonly [tree: Oid, shown: number];

export const showNotes = adminRoute({
  path: '/repositories/{name}/notes',
  summary: 'List the notes of a notes ref, each with its target and its blob',
  query: z.strictObject({
    ...listQuery,
    ...inOrganization,
    ref: z.string().optional().meta({ description: 'Full name of the notes ref; default refs/notes/commits.' }),
  }),
  replies: { 200: listOf(z.object({ target: z.string(), note: z.string() })) },
  handle: async (ctx) => {
    const { query, meter } = ctx;
    const repository = findRepository(ctx);
    const { objects, refs } = repository.git;
    const list = openList<NotesCursor>(ctx, query, ['admin', 'notes', repository.id, query.ref], LIST_SIZE);
    const tip = refs.get(query.ref === undefined ? NOTES : bytesOf(query.ref));
    if (query.ref !== undefined) requireFound(tip, 'ref', query.ref);
    const [tree, skip] = list.position ?? [tip && (await runYielding(findTree(objects, tip), meter)), 0];
    const notes = tree === undefined ? [] : eachNote(objects, tree);
    const { page, end } = await list.take(notes, (_, count) => [tree!, count], skip);
    return largeJson(200, {
      items: page.map(([target, note]) => ({ target, note })),
      ...end,
    });
  },
});
