import { z } from 'zod';
import { blameOrRefuse } from '../api/operations/blame.js';
import type { BlamedLines } from '../git/blame/blamed-lines.js';
import { requestLimit } from '../git/limits/request-limits.js';
import { NO_BYTES } from '../git/object/bytes.js';
import { BLOB } from '../git/object/object.js';
import { findEntry } from '../git/object/read-tree.js';
import { formatMode } from '../git/object/tree.js';
import { problem } from '../http/problem.js';
import { json, largeJson } from '../http/reply.js';
import { runYielding } from '../schedule/steps.js';
import { commitDiff, fileQuery, showDiff } from './repository-diff.js';
import {
  commitLine,
  exactBytes,
  findRepository,
  inOrganization,
  named,
  pathNotFound,
  pathQuery,
  readBytes,
  readContent,
  refQuery,
  requireCommit,
  resolveCommit,
  showCommitLine,
  shownContent,
  typeOfMode,
} from './repository-records.js';
import { adminRoute } from './route.js';

export const showCommitDiff = adminRoute({
  path: '/repositories/{name}/commits/{oid}/diff',
  summary:
    'Show the changes of a commit against one of its parents (the first by default), or against nothing if it has none',
  query: z.strictObject({
    ...inOrganization,
    ...fileQuery,
    parent: z.string().optional().meta({ description: 'Number of the parent of a merge, from 1.' }),
  }),
  replies: { 200: commitDiff },
  errors: ['not_found', 'unprocessable_entity', 'gateway_timeout'],
  handle: async (ctx) => {
    const { query, meter } = ctx;
    const repository = findRepository(ctx);
    const oid = requireCommit(repository, ctx.params.oid!);
    const { parents } = repository.git.history.commit(oid);
    const base = parents[readParent(query.parent, parents.length) - 1];
    return largeJson(200, await showDiff(repository, { base, oid }, query, meter));
  },
});

function readParent(text: string | undefined, parents: number): number {
  if (text === undefined) return 1;
  if (/^[1-9]\d{0,9}$/.test(text) && Number(text) <= parents) return Number(text);
  const allowed =
    parents === 0 ? 'the commit has no parents' : parents === 1 ? 'must be 1' : `must be from 1 to ${parents}`;
  throw problem('bad_request', parents === 0 ? `parent cannot be given: ${allowed}.` : `parent ${allowed}.`);
}

const foundContent = z.object({
  commit: z.string(),
  path: z.string(),
  path_bytes: exactBytes,
  type: z.enum(['tree', 'blob', 'commit']),
  mode: z.string(),
  oid: z.string(),
  ...z.object(shownContent).partial().shape,
});

export type FoundContent = z.infer<typeof foundContent>;

export const showContent = adminRoute({
  path: '/repositories/{name}/content',
  summary: 'Show what a path contains at a ref: a blob, at most its first MiB, or the id of a folder or submodule',
  query: z.strictObject({ ...inOrganization, ...refQuery, ...pathQuery }),
  replies: { 200: foundContent },
  errors: ['not_found', 'ref_not_found'],
  handle: async (ctx) => {
    const { query, meter } = ctx;
    const repository = findRepository(ctx);
    const { objects } = repository.git;
    const path = readBytes(query.path, query.path_bytes, 'path') ?? NO_BYTES;
    const commit = await resolveCommit(repository, query.ref, meter);
    const entry = await runYielding(findEntry(objects, repository.git.history.commit(commit).tree, path), meter);
    if (!entry) throw pathNotFound(path, commit);
    const number = objects.find(entry.oid);
    const isBlob = number >= 0 && objects.typeOf(number) === BLOB;
    return json(200, {
      commit,
      ...named('path', path),
      type: typeOfMode(entry.mode),
      mode: formatMode(entry.mode),
      oid: entry.oid,
      ...(isBlob && (await readContent(objects, number, meter))),
    });
  },
});

const LONGEST_RANGE = requestLimit('blameRangeLength');

const blamedRange = z.object({
  line: z.int().meta({ description: 'Number of the first line, from 1.' }),
  lines: z.int(),
  commit: z.string(),
  original_line: z.int(),
  original_path: z.string(),
  original_path_bytes: exactBytes,
  previous: z.string().optional().meta({ description: 'Parent of the commit that does not have the lines yet.' }),
});

const blameRecord = z.object({
  commit: z.string(),
  path: z.string(),
  path_bytes: exactBytes,
  ranges: z.array(blamedRange),
  commits: z.array(z.object({ oid: z.string(), ...commitLine })),
});

export type Blame = z.infer<typeof blameRecord>;

export const showBlame = adminRoute({
  path: '/repositories/{name}/blame',
  summary: 'Show which commit each line of a file comes from: ranges of lines, and their commits',
  query: z.strictObject({
    ...inOrganization,
    ...refQuery,
    ...pathQuery,
    range: z
      .string()
      .max(LONGEST_RANGE, `must have at most ${LONGEST_RANGE} characters`)
      .optional()
      .meta({ description: 'Lines as for `git blame -L`, such as 1,200.' }),
  }),
  replies: { 200: blameRecord },
  errors: ['not_found', 'ref_not_found', 'gateway_timeout'],
  handle: async (ctx) => {
    const { query, meter } = ctx;
    const repository = findRepository(ctx);
    const path = readBytes(query.path, query.path_bytes, 'path');
    if (path === undefined) throw problem('bad_request', 'path is required: the file to blame.');
    const commit = await resolveCommit(repository, query.ref, meter);
    const ranges = query.range === undefined ? undefined : [query.range];
    const blamed = await blameOrRefuse(ctx, repository, { commit, path, ranges }, () => pathNotFound(path, commit));
    const { objects } = repository.git;
    return largeJson(200, {
      commit,
      ...named('path', path),
      ranges: showRanges(blamed),
      commits: (function* () {
        for (const oid of new Set(blamed.map((range) => range.commit))) yield { oid, ...showCommitLine(objects, oid) };
      })(),
    });
  },
});

function* showRanges(blamed: readonly BlamedLines[]): Generator<z.infer<typeof blamedRange>> {
  for (const { start, count, commit, originalStart, originalPath, previous } of blamed) {
    yield {
      line: start + 1,
      lines: count,
      commit,
      original_line: originalStart + 1,
      ...named('original_path', originalPath),
      ...(previous && { previous: previous.commit }),
    };
  }
}
