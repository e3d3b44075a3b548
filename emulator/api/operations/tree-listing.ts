import { z } from 'zod';
import { type ByteString, bytesOf, textOf } from '../../git/object/bytes.js';
import { readCommit } from '../../git/object/commit.js';
import type { ObjectReader, Oid } from '../../git/object/object.js';
import { findEntry } from '../../git/object/read-tree.js';
import { formatMode, MODE_GITLINK, MODE_SYMLINK, MODE_TREE } from '../../git/object/tree.js';
import { PathCursor, PathList } from '../../git/pathspec/path-list.js';
import { selectPath } from '../../git/pathspec/select-files.js';
import { TreeWalk } from '../../git/pathspec/tree-walk.js';
import { problem } from '../../http/problem.js';
import { largeJson } from '../../http/reply.js';
import { operationsOf, routesOfRepository } from '../../operation/operation.js';
import type { Meter } from '../../schedule/meter.js';
import { runSync, runYielding, type Steps } from '../../schedule/steps.js';
import { flag, readFilePath } from '../fields.js';
import { openList, pageEnd, pageQuery, readLimit } from '../paging.js';
import { type ResolvedRef, resolveRef } from '../resolve.js';

const operation = operationsOf('Files');

const PAGE = { cap: 5000, usual: 1000 };

export type EntryType = 'blob' | 'tree' | 'symlink' | 'submodule';

export function entryType(mode: number): EntryType {
  if (mode === MODE_TREE) return 'tree';
  if (mode === MODE_SYMLINK) return 'symlink';
  return mode === MODE_GITLINK ? 'submodule' : 'blob';
}

/**
 * Content of a cursor: the commit at which the list started, and the number of entries on earlier pages (`skip`). The
 * commit stays the same if the ref moves.
 */
interface Position extends ResolvedRef {
  readonly skip: number;
}

export const listFiles = operation({
  summary: 'List the files of a tree',
  routes: routesOfRepository('GET', 'files'),
  query: () =>
    z.object({
      ...pageQuery(),
      ref: z.string().optional(),
      ephemeral: flag().optional(),
      path: z.string().optional(),
      recursive: flag().optional(),
    }),
  replies: () => ({
    200: z.object({
      paths: z.array(z.string()),
      ref: z.string(),
      entries: z.array(
        z.object({ path: z.string(), type: z.enum(['blob', 'tree', 'symlink', 'submodule']), mode: z.string() }),
      ),
      ...pageEnd(),
    }),
  }),
  errors: ['ref_not_found', 'not_found'],
  handle: async (ctx) => {
    const { repository, query, meter } = ctx;
    const { objects } = repository.git;
    const path = readFolder(query.path);
    const recursive = query.recursive ?? true;
    const selection = [repository.id, query.ref ?? '', query.ephemeral ?? false, path, recursive];
    const list = openList<Position>(ctx, { cursor: query.cursor }, ['listFiles', ...selection]);
    const { position } = list;
    // Without `cursor` and `limit`, the response contains the whole tree, as in older servers.
    const paged = query.cursor !== undefined || query.limit !== undefined;
    const limit = paged ? readLimit(query.limit, PAGE) : Number.POSITIVE_INFINITY;
    const { commit, shown } = position ?? (await resolveRef(ctx, { ref: query.ref, ephemeral: query.ephemeral }));
    const skip = position?.skip ?? 0;
    const listed = await runYielding(listUnder(objects, readCommit(objects, commit).tree, path, recursive), meter);
    const page: Page = { paths: new PathList(), modes: [] };
    const hasMore = await walkPage(listed, { skip, limit, meter }, ({ mode }) => {
      page.paths.add(listed);
      page.modes.push(mode);
    });
    return largeJson(200, {
      paths: filesOf(page),
      ref: shown,
      entries: showEntries(page),
      ...list.end(hasMore, () => ({ commit, shown, skip: skip + page.modes.length })),
    });
  },
});

/**
 * Entries of one page, as a struct of arrays (one array per field). Paths share their common prefixes. Otherwise the
 * paths of a deep tree would take quadratic memory.
 */
interface Page {
  readonly paths: PathList;
  readonly modes: number[];
}

interface PagePlace {
  readonly skip: number;
  readonly limit: number;
  readonly meter: Meter;
}

/** Calls `add` with the walk at each entry of one page. Resolves to true if more entries follow the page. */
export async function walkPage(
  walk: TreeWalk,
  { skip, limit, meter }: PagePlace,
  add: (walk: TreeWalk) => void,
): Promise<boolean> {
  let seen = 0;
  while (walk.step()) {
    meter.spend(walk.cost);
    if (meter.shouldYield) await meter.yieldToEventLoop();
    if (!walk.isFound || ++seen <= skip) continue;
    if (seen > skip + limit) return true;
    add(walk);
  }
  return false;
}

// Yields the entries one by one while the response is written, because a tree can have a hundred thousand entries.
function* showEntries({ paths, modes }: Page) {
  const cursor = new PathCursor(paths);
  for (const [index, mode] of modes.entries()) {
    runSync(cursor.moveTo(index));
    yield { path: textOf(cursor.path), type: entryType(mode), mode: formatMode(mode) };
  }
}

function* filesOf({ paths, modes }: Page) {
  const cursor = new PathCursor(paths);
  for (const [index, mode] of modes.entries()) {
    if (mode === MODE_TREE || mode === MODE_GITLINK) continue;
    runSync(cursor.moveTo(index));
    yield textOf(cursor.path);
  }
}

const ROOT = bytesOf('');

/** Parses the query parameter that names the folder to list. A final slash is optional. Default: the root. */
export function readFolder(text: string | undefined): ByteString {
  return text ? readFilePath(text.replace(/\/+$/, '') || '/', 'path') : ROOT;
}

/**
 * Returns a walk over the entries below `path`, in the order of Git's index. If `path` is a file, it is the only entry.
 * Throws `not_found` if the path does not exist.
 */
export function* listUnder(objects: ObjectReader, root: Oid, path: ByteString, recursive: boolean): Steps<TreeWalk> {
  const entry = yield* findEntry(objects, root, path);
  if (!entry) throw problem('not_found', `Path ${textOf(path)} does not exist in the tree.`);
  if (entry.mode === MODE_TREE) return new TreeWalk(objects, entry.oid, { under: path, recursive, trees: !recursive });
  return new TreeWalk(objects, root, { selects: yield* selectPath(path) });
}
