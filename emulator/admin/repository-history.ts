import { z } from 'zod';
import { flag } from '../api/fields.js';
import { openList, pageEnd, readLimit } from '../api/paging.js';
import { findNote } from '../git/notes/note-tree.js';
import { bytesOf, NO_BYTES, textOf } from '../git/object/bytes.js';
import { parseCommit } from '../git/object/commit.js';
import { BLOB, COMMIT, type Oid, readStepsAs } from '../git/object/object.js';
import { findCommit, findTree } from '../git/object/tag.js';
import { inDateOrder } from '../git/revwalk/date-order.js';
import { problem } from '../http/problem.js';
import { largeJson } from '../http/reply.js';
import type { Repository } from '../repositories/repository.js';
import type { Meter } from '../schedule/meter.js';
import { runYielding } from '../schedule/steps.js';
import { LIST_SIZE, listQuery } from './lists.js';
import {
  commitDetails,
  commitLine,
  findRepository,
  inOrganization,
  readContent,
  refQuery,
  refsOf,
  requireCommit,
  resolveCommit,
  showCommitDetails,
  showCommitLine,
  shownContent,
} from './repository-records.js';
import { adminRoute } from './route.js';

/**
 * Maximum number of tips in a cursor. Tips are the commits at which a commit graph starts. If a graph has more tips,
 * the next request finds the tips again and continues after the last returned commit.
 */
const MAX_KEPT_TIPS = 64;
/** Maximum number of notes in the response about one commit. Each note comes from a different notes ref. */
const MAX_NOTES = 100;

/**
 * Content of a cursor of a commit graph. `tips` are the commits at which the graph starts; empty if there are too many.
 * `last` is the last commit that was returned, and `shown` the number of commits returned so far.
 */
interface GraphCursor {
  readonly tips: readonly Oid[];
  readonly last: Oid;
  readonly shown: number;
}

const graphRow = z.object({
  oid: z.string(),
  parents: z.array(z.string()),
  ...commitLine,
  refs: z
    .array(z.string())
    .optional()
    .meta({ description: 'Full names of the refs that lead to the commit; absent if there are none.' }),
});

export type GraphCommit = z.infer<typeof graphRow>;

interface Selection {
  readonly ref?: string | undefined;
  readonly prefix?: string | undefined;
  readonly all?: boolean | undefined;
}

export const showGraph = adminRoute({
  path: '/repositories/{name}/graph',
  summary:
    'List the commits of branches and tags as `git log --date-order` does: children before parents, otherwise newest first',
  query: z.strictObject({
    ...listQuery,
    ...inOrganization,
    ...refQuery,
    prefix: z
      .string()
      .optional()
      .meta({ description: 'Start from the refs whose full names begin with this text, such as refs/namespaces/.' }),
    all: flag().optional().meta({ description: 'True to start from all refs, including those in ref namespaces.' }),
  }),
  replies: {
    200: z.object({
      items: z.array(graphRow),
      total: z.int().meta({ description: 'Number of commits in the whole list.' }),
      ...pageEnd(),
    }),
  },
  errors: ['not_found', 'ref_not_found'],
  handle: async (ctx) => {
    const { query, meter } = ctx;
    const { cursor, limit, organization: _, ...selection } = query;
    const max = readLimit(limit, LIST_SIZE);
    const repository = findRepository(ctx);
    const { objects, refs, history } = repository.git;
    const list = openList<GraphCursor>(ctx, { cursor }, ['admin', 'graph', repository.id, selection]);
    const previous = list.position;
    const tips = previous && previous.tips.length > 0 ? previous.tips : await findTips(repository, selection, meter);
    await history.extend(tips, meter);
    const { graph } = history;
    const { order, heads } = await runYielding(inDateOrder(graph, graph.locateAll(tips)), meter);
    const start = previous ? placeAfter(previous, order.indexOf(graph.locate(previous.last))) : 0;
    const page = Array.from(order.subarray(start, start + max), (position) => graph.oidOf(position));
    const hasMore = start + page.length < order.length;
    const named = await refsOf(objects, refs, page, meter);
    const shown = start + page.length;
    const kept = heads.length > MAX_KEPT_TIPS ? [] : heads.map((position) => graph.oidOf(position));
    return largeJson(200, {
      items: (function* () {
        for (const oid of page) {
          const names = named.get(oid)!;
          yield {
            oid,
            parents: history.commit(oid).parents,
            ...showCommitLine(objects, oid),
            ...(names.length > 0 && { refs: names }),
          };
        }
      })(),
      total: order.length,
      ...list.end(hasMore, () => ({ tips: kept, last: page.at(-1)!, shown })),
    });
  },
});

function placeAfter({ shown }: GraphCursor, at: number): number {
  return at < 0 ? shown : at + 1;
}

const HEADS_AND_TAGS = ['refs/heads/', 'refs/tags/'].map(bytesOf);

/**
 * Returns the commits to which the selected refs point, without duplicates. Throws `bad_request` if the request uses
 * more than one of `ref`, `prefix` and `all`.
 */
async function findTips(repository: Repository, { ref, prefix, all }: Selection, meter: Meter): Promise<Oid[]> {
  if ([ref, prefix, all].filter((one) => one !== undefined && one !== false).length > 1)
    throw problem('bad_request', 'Only one of the query parameters ref, prefix and all is allowed.');
  if (ref !== undefined) return [await resolveCommit(repository, ref, meter)];
  const { refs, objects } = repository.git;
  const prefixes = prefix !== undefined ? [bytesOf(prefix)] : all ? [NO_BYTES] : HEADS_AND_TAGS;
  const tips = new Set<Oid>();
  for (const each of prefixes) {
    for (const [, { oid }] of refs.entries(each)) {
      const commit = await runYielding(findCommit(objects, oid), meter);
      if (commit !== undefined) tips.add(commit);
    }
  }
  return [...tips];
}

const noteRecord = z.object({ ref: z.string(), oid: z.string(), ...shownContent });

const commitRecord = z.object({
  oid: z.string(),
  ...commitDetails,
  refs: z.array(z.string()),
  notes: z.array(noteRecord),
});

export type CommitRecord = z.infer<typeof commitRecord>;

export const showCommit = adminRoute({
  path: '/repositories/{name}/commits/{oid}',
  summary: 'Show a commit, with the refs that lead to it and its notes',
  query: z.strictObject(inOrganization),
  replies: { 200: commitRecord },
  handle: async (ctx) => {
    const { meter, params } = ctx;
    const repository = findRepository(ctx);
    const { objects, refs } = repository.git;
    const oid = requireCommit(repository, params.oid!);
    const commit = parseCommit(await runYielding(readStepsAs(objects, oid, COMMIT), meter));
    const named = await refsOf(objects, refs, [oid], meter);
    return largeJson(200, {
      oid,
      ...showCommitDetails(commit),
      refs: named.get(oid)!,
      notes: await readNotes(repository, oid, meter),
    });
  },
});

const NOTES = bytesOf('refs/notes/');

async function readNotes({ git }: Repository, target: Oid, meter: Meter): Promise<z.infer<typeof noteRecord>[]> {
  const { objects, refs } = git;
  const notes: z.infer<typeof noteRecord>[] = [];
  for (const [name, { oid: tip }] of refs.entries(NOTES)) {
    // A notes ref need not point to a commit. It can also point to a tree or to a tag of a tree. A blob contains no
    // notes.
    const tree = await runYielding(findTree(objects, tip), meter);
    const oid = tree === undefined ? undefined : await runYielding(findNote(objects, tree, target), meter);
    const number = oid === undefined ? -1 : objects.find(oid);
    if (number < 0 || objects.typeOf(number) !== BLOB) continue;
    notes.push({ ref: textOf(name), oid: oid!, ...(await readContent(objects, number, meter)) });
    if (notes.length === MAX_NOTES) break;
  }
  return notes;
}
