import { z } from 'zod';
import type { Variants } from '../../config/variants.js';
import { type ByteString, bytesOf, textOf } from '../../git/object/bytes.js';
import { readCommit } from '../../git/object/commit.js';
import { formatDate } from '../../git/object/identity.js';
import { numberOf, type ObjectReader, type Oid } from '../../git/object/object.js';
import { formatMode, MODE_GITLINK } from '../../git/object/tree.js';
import { PathCursor, PathList } from '../../git/pathspec/path-list.js';
import type { TreeWalk } from '../../git/pathspec/tree-walk.js';
import { Problem, problem } from '../../http/problem.js';
import { bytes, type Reply, stream } from '../../http/reply.js';
import { lazy } from '../../memory/lazy.js';
import { type CacheGroup, type CacheRegion, costOfBuffer } from '../../memory/memory-cache.js';
import { type HandlerContext, operationsOf, routesOfRepository } from '../../operation/operation.js';
import { COST } from '../../schedule/cost.js';
import type { Meter } from '../../schedule/meter.js';
import { runYielding } from '../../schedule/steps.js';
import { flag } from '../fields.js';
import { openList, pageQuery, readLimit } from '../paging.js';
import { type ResolvedRef, resolveRef } from '../resolve.js';
import { entryType, listUnder, readFolder, walkPage } from './tree-listing.js';

const operation = operationsOf('Files');

const PAGE = { cap: 1000, usual: 200 };
/** Maximum size of a response that is built in memory and cached, in bytes. A larger response is streamed. */
const MAX_WHOLE = 8 << 20;
const JSON_TYPE = { 'content-type': 'application/json' };

const fileEntry = lazy(() =>
  z.object({
    path: z.string(),
    mode: z.string(),
    size: z.int(),
    last_commit_sha: z.string(),
    type: z.enum(['blob', 'symlink', 'submodule']).optional(),
  }),
);

const commitSummary = lazy(() => z.object({ author: z.string(), date: z.string(), message: z.string() }));

interface Position extends ResolvedRef {
  readonly skip: number;
}

export const fileMetadata = operation({
  summary: 'Show size, mode and last commit of every file',
  routes: routesOfRepository('GET', 'files/metadata'),
  dialect: 'error',
  head: false,
  // `path` restricts the list to a folder. Newer clients also send the parameter `recursive`, which is ignored.
  query: () =>
    z.object({
      ...pageQuery(),
      ref: z.string().optional(),
      ephemeral: flag().optional(),
      path: z.string().optional(),
    }),
  replies: () => ({
    200: z.object({ files: z.array(fileEntry()), commits: z.record(z.string(), commitSummary()), ref: z.string() }),
  }),
  errors: [
    'ref_not_found',
    'not_found',
    'method_not_allowed',
    'request_timeout',
    'rate_limited',
    'internal_error',
    'service_unavailable',
  ],
  handle: async (ctx) => {
    const { world, repository, query, meter } = ctx;
    const { objects, history } = repository.git;
    const paged =
      world.variants.metadataPagination === 'on-request' && (query.cursor !== undefined || query.limit !== undefined);
    const path = readFolder(query.path);
    const selection = [repository.id, query.ref ?? '', query.ephemeral ?? false, path];
    const list = openList<Position>(ctx, { cursor: paged ? query.cursor : undefined }, ['fileMetadata', ...selection]);
    const { position } = list;
    const { commit, shown } = position ?? (await resolveForMetadata(ctx, query.ref, query.ephemeral ?? false));
    const limit = paged ? readLimit(query.limit, PAGE) : Number.POSITIVE_INFINITY;
    const skip = position?.skip ?? 0;
    const { responses } = repository.content;
    const texts = responses.shared(MetadataTexts, () => new MetadataTexts(responses));
    // The cache key contains the maximum number of commits. A cached response may have more commits than a lower
    // maximum permits.
    const key = `${repository.id}/${commit}/${world.limits.maxMetadataCommits}/${path}`;
    const known = paged ? undefined : texts.kept.get(key);
    if (known !== undefined) return responseOf(known, { ref: shown });
    const files = await runYielding(listUnder(objects, readCommit(objects, commit).tree, path, true), meter);
    const touched = await history.lastModified(commit, meter, path);
    const page = await texts.write(
      {
        objects,
        repository: repository.id,
        files,
        skip,
        limit,
        touchedBy: (file) => touched.get(file) ?? commit,
        allow: (commits) => refuseTooMany(commits, world.limits.maxMetadataCommits),
      },
      meter,
    );
    const next = () => ({ commit, shown, skip: skip + page.files });
    const members = { ref: shown, ...(paged && list.end(page.hasMore, next)) };
    const { whole, pieces } = await wholeUpTo(MAX_WHOLE, page.text);
    if (whole === undefined) return stream(200, withEnd(pieces, members), JSON_TYPE);
    if (!paged) texts.kept.set(key, whole);
    return responseOf(whole, members);
  },
});

type Members = Readonly<Record<string, unknown>>;

/** Returns a response whose body is a JSON object: `text`, which has no closing brace, followed by `members`. */
function responseOf(text: Buffer, members: Members): Reply {
  return bytes(200, Buffer.concat([text, endOf(members)]), JSON_TYPE);
}

async function* withEnd(pieces: AsyncIterable<Buffer>, members: Members): AsyncGenerator<Buffer, void, void> {
  yield* pieces;
  yield endOf(members);
}

function endOf(members: Members): Buffer {
  return Buffer.from(`,${JSON.stringify(members).slice(1)}`);
}

/**
 * Reads a response body. If it has at most `max` bytes, returns it as one buffer (`whole`). Otherwise returns a stream
 * of all its pieces.
 */
async function wholeUpTo(
  max: number,
  pieces: AsyncIterable<Buffer>,
): Promise<{ whole: Buffer; pieces?: undefined } | { whole?: undefined; pieces: AsyncIterable<Buffer> }> {
  const rest = pieces[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  for (let bytes = 0; bytes <= max; ) {
    const { done, value } = await rest.next();
    if (done) return { whole: Buffer.concat(first) };
    first.push(value);
    bytes += value.length;
  }
  return { pieces: chained(first, rest) };
}

async function* chained(first: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void, void> {
  try {
    yield* first;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/**
 * Throws `rate_limited` (429) if the listed files come from more than `max` commits. The response has no retry headers,
 * because waiting does not help.
 */
function refuseTooMany(commits: number, max: number): void {
  if (commits <= max) return;
  throw problem(
    'rate_limited',
    `The files were last changed by ${commits} distinct commits, but at most ${max} are allowed (--max-metadata-commits).`,
  );
}

const MAIN = bytesOf('refs/heads/main');

/**
 * Resolves the request's ref to a commit. Without a ref, tries the default branch, then HEAD, then `main`. In this
 * operation, a missing branch in the ephemeral namespace (separate from normal branches) usually causes status 400.
 */
async function resolveForMetadata(
  ctx: HandlerContext,
  ref: string | undefined,
  ephemeral: boolean,
): Promise<ResolvedRef> {
  const { tagRefs, missingEphemeralRef, metadataRef } = ctx.world.variants;
  try {
    const tags = tagRefs === 'accepted' || tagRefs === 'metadata-only';
    const missing = ephemeral && missingEphemeralRef !== '404' ? 'bad_request' : undefined;
    return showAs(metadataRef, await resolveRef(ctx, { ref, ephemeral, tags, missing }));
  } catch (error) {
    if (ephemeral || !(error instanceof Problem) || error.code !== 'ref_not_found') throw error;
    const main = ref === undefined || ref === '' ? ctx.repository.git.refs.get(MAIN) : undefined;
    if (main === undefined) throw error;
    return showAs(metadataRef, { commit: main, shown: 'main', name: textOf(MAIN) });
  }
}

function showAs(variant: Variants['metadataRef'], resolved: ResolvedRef): ResolvedRef {
  const { commit, shown, name = shown } = resolved;
  return { commit, shown: { short: shown, full: name, sha: commit }[variant] };
}

/** Number of characters of JSON text that are collected before they are encoded and sent. */
const PIECE = 64 * 1024;
const COMMA = Buffer.from(',');
const FILES = Buffer.from('{"files":[');
const COMMITS = Buffer.from('],"commits":{');
const END = Buffer.from('}');

interface MetadataRequest {
  readonly objects: ObjectReader;
  /** Id of the repository for cache keys. It is unique in the process. */
  readonly repository: string;
  readonly files: TreeWalk;
  readonly skip: number;
  readonly limit: number;
  /** Returns the last commit that changed the file at a path. */
  readonly touchedBy: (path: ByteString) => Oid;
  /** Checks the number of distinct commits on the page before the page is written. Throws if there are too many. */
  readonly allow: (commits: number) => void;
}

interface MetadataPage {
  /**
   * JSON text `{"files":[...],"commits":{...}` without the closing brace. The caller adds more members and the brace.
   */
  readonly text: AsyncIterable<Buffer>;
  readonly files: number;
  readonly hasMore: boolean;
}

/**
 * Files of one page, as a struct of arrays (one array per field). Paths share their common prefixes. Otherwise the
 * paths of a deep tree would take quadratic memory.
 */
interface ListedFiles {
  readonly paths: PathList;
  readonly modes: number[];
  /** Object number of each file's blob (index into the tables of the object store); -1 for a submodule. */
  readonly objects: number[];
  /** For each file, the last commit that changed it, as an index in the page's list of distinct commits. */
  readonly commits: number[];
}

/**
 * Writes the JSON text of file metadata as bytes, and caches it. Yields to the event loop while it works. Cached texts
 * never become outdated, because Git objects never change.
 */
export class MetadataTexts {
  /** Cache of JSON texts, both of whole responses and of single commits. Keys start with the id of the repository. */
  readonly kept: CacheRegion<string, Buffer>;

  constructor(responses: CacheGroup) {
    this.kept = responses.region(costOfBuffer);
  }

  async write(request: MetadataRequest, meter: Meter): Promise<MetadataPage> {
    const { touchedBy, skip, limit, files: walk } = request;
    const files: ListedFiles = { paths: new PathList(), modes: [], objects: [], commits: [] };
    const commits = new Map<Oid, number>();
    const hasMore = await walkPage(walk, { skip, limit, meter }, ({ path, mode }) => {
      const commit = touchedBy(path);
      const place = commits.get(commit) ?? commits.size;
      commits.set(commit, place);
      files.paths.add(walk);
      files.modes.push(mode);
      files.objects.push(mode === MODE_GITLINK ? -1 : numberOf(request.objects, walk.oid));
      files.commits.push(place);
      meter.spend(path.length * COST.byteScanned);
    });
    request.allow(commits.size);
    return { text: this.#pieces(request, files, [...commits.keys()], meter), files: files.modes.length, hasMore };
  }

  async *#pieces(
    { objects, repository }: MetadataRequest,
    { paths, modes, objects: numbers, commits: places }: ListedFiles,
    commits: readonly Oid[],
    meter: Meter,
  ): AsyncGenerator<Buffer, void, void> {
    yield FILES;
    const cursor = new PathCursor(paths);
    let batch = '';
    for (const [file, mode] of modes.entries()) {
      if (cursor.tryMoveTo(file) === undefined) await runYielding(cursor.moveTo(file), meter);
      const number = numbers[file]!;
      const { path } = cursor;
      const size = number < 0 ? 0 : objects.sizeOf(number);
      batch += `${file === 0 ? '' : ','}${fileText(path, mode, size, commits[places[file]!]!)}`;
      meter.spend(path.length * COST.byteScanned);
      if (meter.shouldYield) await meter.yieldToEventLoop();
      if (batch.length < PIECE) continue;
      yield Buffer.from(batch);
      batch = '';
    }
    yield Buffer.from(batch);
    yield COMMITS;
    const summaries: Buffer[] = [];
    let bytes = 0;
    for (const [at, commit] of commits.entries()) {
      if (meter.shouldYield) await meter.yieldToEventLoop();
      const summary = this.#summary(objects, repository, commit);
      if (at > 0) summaries.push(COMMA);
      summaries.push(summary);
      bytes += summary.length;
      if (bytes < PIECE) continue;
      yield Buffer.concat(summaries.splice(0));
      bytes = 0;
    }
    yield Buffer.concat([...summaries, END]);
  }

  /**
   * Returns the JSON text of one commit for the response, from the cache if possible. Format:
   * `"<id>":{"author":...,"date":...,"message":...}`.
   */
  #summary(objects: ObjectReader, repository: string, commit: Oid): Buffer {
    const key = `${repository}/${commit}`;
    const known = this.kept.get(key);
    if (known !== undefined) return known;
    const { author, message } = readCommit(objects, commit);
    const summary = { author: author.name, date: formatDate(author), message };
    const text = Buffer.from(`"${commit}":${JSON.stringify(summary)}`);
    this.kept.set(key, text);
    return text;
  }
}

function fileText(path: ByteString, mode: number, size: number, commit: Oid): string {
  const name = JSON.stringify(textOf(path));
  return `{"path":${name},"mode":"${formatMode(mode)}","size":${size},"last_commit_sha":"${commit}","type":"${entryType(mode)}"}`;
}
