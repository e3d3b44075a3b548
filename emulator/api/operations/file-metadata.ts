import { z } from 'zod';
import type { Variants } from '../../config/variants.js';
import { bytesOf, textOf } from '../../git/object/bytes.js';
import { readCommit } from '../../git/object/commit.js';
import { Problem, problem } from '../../http/problem.js';
import { bytes, type Reply, stream } from '../../http/reply.js';
import { once } from '../../memory/once.js';
import type { HandlerContext } from '../../operation/handler-context.js';
import { operation, routesOfRepository } from '../../operation/operation.js';
import { inSlices } from '../../schedule/steps.js';
import { flag } from '../fields.js';
import { MetadataTexts } from '../metadata-text.js';
import { openList, pageQuery, readLimit } from '../paging.js';
import { type ResolvedRef, resolveRef } from '../resolve.js';
import { listUnder, readFolder } from './tree-listing.js';

const PAGE = { cap: 1000, usual: 200 };
/** Bytes of an answer that is made as a whole; a longer one is made as the client takes it. */
const MOST_WHOLE = 8 << 20;
const JSON_TYPE = { 'content-type': 'application/json' };

const fileEntry = once(() =>
  z.object({
    path: z.string(),
    mode: z.string(),
    size: z.int(),
    last_commit_sha: z.string(),
    type: z.enum(['blob', 'symlink', 'submodule']).optional(),
  }),
);

const commitSummary = once(() => z.object({ author: z.string(), date: z.string(), message: z.string() }));

interface Position extends ResolvedRef {
  readonly skip: number;
}

export const fileMetadata = operation({
  group: 'Files',
  summary: 'Show size, mode and last commit of every file',
  routes: routesOfRepository('GET', 'files/metadata'),
  dialect: 'error',
  head: false,
  // Newer clients narrow the list to `path`; they send `recursive` as well, which makes no difference.
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
    const { answers } = repository.content;
    const texts = answers.shared(MetadataTexts, () => new MetadataTexts(answers));
    // The limit is part of the key: what passed under one may be refused under another.
    const key = `${repository.id}/${commit}/${world.limits.maxMetadataCommits}/${path}`;
    const known = paged ? undefined : texts.kept.get(key);
    if (known !== undefined) return answer(known, { ref: shown });
    const files = await inSlices(listUnder(objects, readCommit(objects, commit).tree, path, true), meter);
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
    const { whole, pieces } = await wholeUpTo(MOST_WHOLE, page.text);
    if (whole === undefined) return stream(200, withEnd(pieces, members), JSON_TYPE);
    if (!paged) texts.kept.set(key, whole);
    return answer(whole, members);
  },
});

type Members = Readonly<Record<string, unknown>>;

/** An answer of ready JSON without its closing brace, and further members. */
function answer(text: Buffer, members: Members): Reply {
  return bytes(200, Buffer.concat([text, endOf(members)]), JSON_TYPE);
}

async function* withEnd(pieces: AsyncIterable<Buffer>, members: Members): AsyncGenerator<Buffer, void, void> {
  yield* pieces;
  yield endOf(members);
}

function endOf(members: Members): Buffer {
  return Buffer.from(`,${JSON.stringify(members).slice(1)}`);
}

/** All pieces as one, where they have at most so many bytes; else one after the other, as they are taken. */
async function wholeUpTo(
  most: number,
  pieces: AsyncIterable<Buffer>,
): Promise<{ whole: Buffer; pieces?: undefined } | { whole?: undefined; pieces: AsyncIterable<Buffer> }> {
  const rest = pieces[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  for (let bytes = 0; bytes <= most; ) {
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

/** Past `most` the answer is 429, which waiting does not cure: no rate fields. */
function refuseTooMany(commits: number, most: number): void {
  if (commits <= most) return;
  throw problem(
    'rate_limited',
    `The files were last touched by ${commits} distinct commits; at most ${most} are expanded.`,
  );
}

const MAIN = bytesOf('refs/heads/main');

/** Without `ref`: the default branch, then HEAD, then `main`. A branch missing in the ephemeral namespace is 400 here. */
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
