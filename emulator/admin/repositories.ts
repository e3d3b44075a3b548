import { z } from 'zod';
import { readBranch } from '../api/fields.js';
import { mapped, openList } from '../api/paging.js';
import { commitRecord, showCommit } from '../api/records.js';
import { textOf } from '../git/object/bytes.js';
import { BLOB, type ObjectReader, type Oid, TAG } from '../git/object/object.js';
import { readTree } from '../git/object/read-tree.js';
import { findTree } from '../git/object/tag.js';
import { formatMode } from '../git/object/tree.js';
import { problem } from '../http/problem.js';
import { empty, json, largeJson } from '../http/reply.js';
import type { Repository } from '../repositories/repository.js';
import { repositoryNameIssue } from '../repositories/repository-name.js';
import { runYielding } from '../schedule/steps.js';
import { isoTime } from '../time/iso-8601.js';
import { LIST_SIZE, listOf, listQuery, writeList } from './lists.js';
import {
  exactBytes,
  findRepository,
  inOrganization,
  named,
  readContent,
  requireObject,
  resolveCommit,
  shownContent,
  showTagDetails,
  tagDetails,
  typeOfMode,
} from './repository-records.js';
import { adminRoute, organizationName, requireFound } from './route.js';

/*
 * Routes that show repositories, for the emulator's web page and for tests. They read data without checking or changing
 * the repository's state, so that archived, thawing and deleted repositories can be viewed.
 */

const summaryRecord = z.object({
  id: z.string(),
  name: z.string(),
  organization: z.string(),
  state: z.string(),
  default_branch: z.string().nullable(),
  head: z.string().nullable().meta({ description: 'Commit to which HEAD resolves; null if there is none.' }),
  refs: z.int(),
  objects: z.int(),
  created_at: z.iso.datetime(),
  base_repo: z.object({ provider: z.string(), owner: z.string(), name: z.string() }).optional(),
});

export type RepositoryRecord = z.infer<typeof summaryRecord>;

function showSummary({ record, ownState, defaultBranch, git }: Repository): RepositoryRecord {
  const { id, name, organization, refs, createdAt, baseRepo } = record;
  return {
    id,
    name,
    organization,
    state: ownState,
    default_branch: defaultBranch === undefined ? null : textOf(defaultBranch),
    head: refs.headOid ?? null,
    refs: refs.size,
    objects: git.objects.size,
    created_at: isoTime(createdAt),
    ...(baseRepo && { base_repo: { provider: baseRepo.provider, owner: baseRepo.owner, name: baseRepo.name } }),
  };
}

export const showRepositories = adminRoute({
  path: '/repositories',
  summary: 'List the repositories of an organization in order of creation, whatever their state',
  query: z.strictObject({ ...listQuery, ...inOrganization }),
  replies: { 200: listOf(summaryRecord) },
  handle: (ctx) => {
    const { repositories } = ctx.world.state;
    const name = ctx.query.organization ?? ctx.organization;
    const items = [...repositories.all()].filter(
      // A deleted repository is omitted if a newer repository has the same name, because the name then selects the
      // newer repository.
      (found) => found.record.organization === name && repositories.find(name, found.name) === found,
    );
    return writeList(ctx, {
      of: ['repositories', name],
      items: items.sort((one, other) => one.record.sequence - other.record.sequence),
      show: showSummary,
    });
  },
});

export const showRepository = adminRoute({
  path: '/repositories/{name}',
  summary: 'Show a repository, whatever its state',
  query: z.strictObject(inOrganization),
  replies: { 200: summaryRecord },
  handle: (ctx) => json(200, showSummary(findRepository(ctx))),
});

export const showRepositoryState = adminRoute({
  path: '/repositories/{name}/state',
  summary: 'Show the state of a repository without changing it',
  query: z.strictObject(inOrganization),
  replies: { 200: z.object({ state: z.string() }) },
  handle: (ctx) => json(200, { state: findRepository(ctx).ownState }),
});

export const addRepository = adminRoute({
  method: 'POST',
  path: '/repositories',
  summary: 'Create an empty repository',
  body: z.strictObject({ name: z.string(), organization: organizationName(), default_branch: z.string().optional() }),
  replies: { 201: summaryRecord },
  errors: ['not_found', 'conflict'],
  handle: ({ world, organization: selected, body }) => {
    const { name, organization = selected, default_branch = 'main' } = body;
    const { organizations, repositories } = world.state;
    requireFound(organizations.get(organization), 'organization', organization);
    const issue = repositoryNameIssue(name);
    if (issue !== undefined) throw problem('bad_request', `name: the name of the repository ${issue}.`);
    readBranch(default_branch, 'default_branch');
    const found = repositories.find(organization, name);
    if (found && found.state !== 'deleted')
      throw problem('conflict', `The repository ${JSON.stringify(name)} already exists.`);
    return json(201, showSummary(repositories.create(organization, name, { defaultBranch: default_branch })));
  },
});

export const removeRepository = adminRoute({
  method: 'DELETE',
  path: '/repositories/{name}',
  summary: 'Delete a repository, whatever its state',
  query: z.strictObject(inOrganization),
  replies: { 204: '' },
  handle: (ctx) => {
    const found = findRepository(ctx);
    requireFound(found.record.state !== 'deleted', 'repository', ctx.params.name);
    ctx.world.background.syncs.cancel(found);
    ctx.world.state.repositories.delete(found);
    return empty(204);
  },
});

/** Content of a cursor: the commit at which the list started, and the number of commits on earlier pages. */
type Position = readonly [tip: Oid, shown: number];

export const showCommits = adminRoute({
  path: '/repositories/{name}/commits',
  summary: 'List the commits reachable from a ref, newest first',
  query: z.strictObject({ ...listQuery, ...inOrganization, ref: z.string().optional() }),
  replies: { 200: listOf(commitRecord()) },
  errors: ['not_found', 'ref_not_found'],
  handle: async (ctx) => {
    const { query, meter } = ctx;
    const repository = findRepository(ctx);
    const { git } = repository;
    const list = openList<Position>(ctx, query, ['admin', 'commits', repository.id, query.ref], LIST_SIZE);
    const tip = list.position?.[0] ?? (await resolveCommit(repository, query.ref, meter));
    const skip = list.position?.[1] ?? 0;
    await git.history.extend([tip], meter);
    const log = git.history.logEach({ tips: [tip] });
    const { page, end } = await list.take(log, (_, count) => [tip, count], skip);
    return largeJson(200, {
      items: mapped(page, (oid) => showCommit(git.objects, oid)),
      ...end,
    });
  },
});

const entryRecord = z.object({
  name: z.string(),
  name_bytes: exactBytes,
  mode: z.string(),
  type: z.enum(['tree', 'blob', 'commit']),
  oid: z.string(),
  size: z.int().nullable().meta({ description: 'Size of a blob in bytes; null for other entries.' }),
});

export type TreeEntry = z.infer<typeof entryRecord>;

export const showTree = adminRoute({
  path: '/repositories/{name}/tree/{oid}',
  summary: 'List the entries of a tree, or of the tree of a commit or tag',
  query: z.strictObject({ ...listQuery, ...inOrganization }),
  replies: { 200: listOf(entryRecord) },
  handle: async (ctx) => {
    const { objects } = findRepository(ctx).git;
    const oid = requireObject(objects, ctx.params.oid!);
    const tree = await runYielding(findTree(objects, oid), ctx.meter);
    if (tree === undefined)
      throw problem('not_found', `The object ${oid} is not a tree, and not a commit or tag of one.`);
    return writeList(ctx, {
      of: ['tree', tree],
      items: await runYielding(readTree(objects, tree), ctx.meter),
      keyOf: ({ name }) => name,
      show: ({ name, mode, oid: entry }): TreeEntry => ({
        ...named('name', name),
        mode: formatMode(mode),
        type: typeOfMode(mode),
        oid: entry,
        size: sizeOfBlob(objects, entry),
      }),
    });
  },
});

function sizeOfBlob(objects: ObjectReader, oid: Oid): number | null {
  const number = objects.find(oid);
  return number >= 0 && objects.typeOf(number) === BLOB ? objects.sizeOf(number) : null;
}

const blobRecord = z.object({ oid: z.string(), ...shownContent });

export type BlobRecord = z.infer<typeof blobRecord>;

export const showBlob = adminRoute({
  path: '/repositories/{name}/blob/{oid}',
  summary: 'Show a blob, at most its first MiB: as text if it is UTF-8, otherwise in base64',
  query: z.strictObject(inOrganization),
  replies: { 200: blobRecord },
  handle: async (ctx) => {
    const { objects } = findRepository(ctx).git;
    const oid = requireObject(objects, ctx.params.oid!);
    const number = objects.find(oid);
    if (objects.typeOf(number) !== BLOB) throw problem('not_found', `The object ${oid} is not a blob.`);
    return json(200, { oid, ...(await readContent(objects, number, ctx.meter)) });
  },
});

const tagRecord = z.object({ oid: z.string(), ...tagDetails });

export type TagRecord = z.infer<typeof tagRecord>;

export const showTag = adminRoute({
  path: '/repositories/{name}/tag/{oid}',
  summary: 'Show an annotated tag: its object, its tagger, and its message',
  query: z.strictObject(inOrganization),
  replies: { 200: tagRecord },
  handle: async (ctx) => {
    const { objects } = findRepository(ctx).git;
    const oid = requireObject(objects, ctx.params.oid!);
    const number = objects.find(oid);
    if (objects.typeOf(number) !== TAG) throw problem('not_found', `The object ${oid} is not an annotated tag.`);
    return json(200, { oid, ...showTagDetails(await runYielding(objects.readSteps(number), ctx.meter)) });
  },
});
