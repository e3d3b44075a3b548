import { z } from 'zod';
import { type ByteString, textOf } from '../git/bytes.js';
import { readCommit } from '../git/commit.js';
import type { ObjectReader, Oid } from '../git/object.js';
import {
  entryAt,
  formatMode,
  MODE_GITLINK,
  MODE_SYMLINK,
  MODE_TREE,
  type PathEntry,
  readTree,
  walkTree,
} from '../git/tree.js';
import { problem } from '../http/problem.js';
import { largeJson } from '../http/reply.js';
import { operation } from '../operation.js';
import { flag, readFilePath } from './fields.js';
import { cursorsOf, listPurpose, pageQuery, readLimit, takeLongPage } from './paging.js';
import { type ResolvedRef, resolveRef } from './resolve.js';

const PAGE = 1000;
const CAP = 5000;

export type EntryType = 'blob' | 'tree' | 'symlink' | 'submodule';

export function entryType(mode: number): EntryType {
  if (mode === MODE_TREE) return 'tree';
  if (mode === MODE_SYMLINK) return 'symlink';
  return mode === MODE_GITLINK ? 'submodule' : 'blob';
}

/** What a cursor carries: the tree its list started from, whatever has become of the ref since. */
interface Position extends ResolvedRef {
  readonly skip: number;
}

export const listFiles = operation({
  id: 'listFiles',
  group: 'Files',
  summary: 'List the files of a tree',
  routes: [
    { method: 'GET', path: '/api/repos/{repo_name}/files' },
    { method: 'GET', path: '/api/v1/repos/files' },
  ],
  scopes: ['git:read'],
  subject: 'repository',
  effect: 'read',
  query: z.object({
    ...pageQuery,
    ref: z.string().optional(),
    ephemeral: flag.optional(),
    path: z.string().optional(),
    recursive: flag.optional(),
  }),
  replies: {
    200: z.object({
      paths: z.array(z.string()),
      ref: z.string(),
      entries: z.array(
        z.object({ path: z.string(), type: z.enum(['blob', 'tree', 'symlink', 'submodule']), mode: z.string() }),
      ),
      next_cursor: z.string().nullable(),
      has_more: z.boolean(),
    }),
  },
  errors: ['ref_not_found', 'not_found'],
  handle: async (call) => {
    const { world, repository, query, meter } = call;
    const { objects } = repository.git;
    const cursors = cursorsOf(world);
    const path = readFolder(query.path);
    const recursive = query.recursive ?? true;
    const purpose = listPurpose(call, 'listFiles', query.ref ?? '', query.ephemeral ?? false, path, recursive);
    const position = query.cursor === undefined ? undefined : cursors.read<Position>(purpose, query.cursor);
    // Without cursor and limit the whole tree comes in one answer, as older servers gave it.
    const paged = query.cursor !== undefined || query.limit !== undefined;
    const limit = paged ? readLimit(query.limit, CAP, PAGE) : Number.POSITIVE_INFINITY;
    const { commit, shown } = position ?? resolveRef(repository, { ref: query.ref, ephemeral: query.ephemeral });
    const skip = position?.skip ?? 0;
    const listed = listUnder(objects, readCommit(objects, commit).tree, path, recursive);
    const { page, hasMore } = await takeLongPage(listed, limit, meter, skip);
    return largeJson(200, {
      paths: filesOf(page),
      ref: shown,
      entries: showEntries(page),
      next_cursor: hasMore
        ? cursors.write(purpose, { commit, shown, skip: skip + page.length } satisfies Position)
        : null,
      has_more: hasMore,
    });
  },
});

// Made as the answer is written: a tree can have a hundred thousand entries.
function* showEntries(page: readonly PathEntry[]) {
  for (const { path, mode } of page) yield { path: textOf(path), type: entryType(mode), mode: formatMode(mode) };
}

function* filesOf(page: readonly PathEntry[]) {
  for (const { path, mode } of page) if (mode !== MODE_TREE && mode !== MODE_GITLINK) yield textOf(path);
}

/** The path a listing is narrowed to, with or without a final slash; none is the root. */
export function readFolder(text: string | undefined): ByteString {
  return text ? readFilePath(text.replace(/\/+$/, '') || '/', 'path') : '';
}

/** The entries below `path`, in index order; a path that is a file lists itself. */
export function listUnder(objects: ObjectReader, root: Oid, path: ByteString, recursive: boolean): Iterable<PathEntry> {
  const entry = entryAt(objects, root, path);
  if (!entry) throw problem('not_found', `There is nothing at ${textOf(path)}.`);
  if (entry.mode !== MODE_TREE) return [entry];
  if (recursive) return walkTree(objects, entry.oid, { under: path });
  const prefix = path === '' ? '' : `${path}/`;
  return readTree(objects, entry.oid).map(({ name, mode, oid }) => ({ path: prefix + name, mode, oid }));
}
