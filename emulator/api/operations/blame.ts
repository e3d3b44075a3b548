import { z } from 'zod';
import { type BlameRequest, blame as blameLines, NoSuchFile } from '../../git/blame/blame.js';
import { BlameMemory } from '../../git/blame/blame-memory.js';
import type { BlamedLines } from '../../git/blame/blamed-lines.js';
import { BadLineRange } from '../../git/blame/line-ranges.js';
import { requestLimit } from '../../git/limits/request-limits.js';
import { textOf } from '../../git/object/bytes.js';
import { type Commit, readCommit } from '../../git/object/commit.js';
import { formatDate } from '../../git/object/identity.js';
import type { ObjectReader, Oid } from '../../git/object/object.js';
import { problem, translateError } from '../../http/problem.js';
import { largeJson } from '../../http/reply.js';
import { lazy } from '../../memory/lazy.js';
import { operationsOf, routesOfRepository } from '../../operation/operation.js';
import type { Repository } from '../../repositories/repository.js';
import type { Meter } from '../../schedule/meter.js';
import { flag, readFilePath } from '../fields.js';
import { resolveRef } from '../resolve.js';

const operation = operationsOf('Files');

const MAX_RANGES = requestLimit('blameRanges');
const LONGEST_RANGE = requestLimit('blameRangeLength');

const blamedLine = lazy(() =>
  z.object({
    line_number: z.int(),
    commit_sha: z.string(),
    original_line_number: z.int(),
    original_path: z.string(),
    previous_commit_sha: z.string().optional(),
    author_name: z.string(),
    author_email: z.string(),
    author_time: z.string(),
    committer_name: z.string(),
    committer_email: z.string(),
    committer_time: z.string(),
    summary: z.string(),
  }),
);

export const blame = operation({
  summary: 'Show the commit that each line of a file comes from',
  routes: routesOfRepository('GET', 'blame'),
  query: () =>
    z.object({
      path: z.string(),
      ref: z.string().optional(),
      ephemeral: flag().optional(),
      range: z
        .array(z.string().max(LONGEST_RANGE, `must have at most ${LONGEST_RANGE} characters`))
        .max(MAX_RANGES, `must be sent at most ${MAX_RANGES} times`)
        .optional(),
      detect_moves: flag().optional(),
    }),
  repeated: ['range'],
  // The CPU time limit is five times the limit of a search, because blame walks the history of the file.
  work: { limit: 'searchTimeout', times: 5 },
  replies: () => ({
    200: z.object({ ref: z.string(), path: z.string(), commit_sha: z.string(), lines: z.array(blamedLine()) }),
  }),
  errors: ['ref_not_found', 'not_found', 'gateway_timeout'],
  handle: async (ctx) => {
    const { repository, query, meter } = ctx;
    const path = readFilePath(query.path, 'path');
    const { commit, shown } = await resolveRef(ctx, { ref: query.ref, ephemeral: query.ephemeral });
    const asked = { commit, path, ranges: query.range, detectMoves: query.detect_moves };
    const blamed = await blameOrRefuse(ctx, repository, asked, () =>
      problem('not_found', `File ${textOf(path)} does not exist at ${shown}.`),
    );
    const origins = await readOrigins(repository.git.objects, blamed, meter);
    return largeJson(200, { ref: shown, path: textOf(path), commit_sha: commit, lines: showLines(blamed, origins) });
  },
});

type ShownOrigin = ReturnType<typeof showOrigin>;

/** Returns the author, committer and subject of each commit in `blamed`, by commit id. */
async function readOrigins(
  objects: ObjectReader,
  blamed: readonly BlamedLines[],
  meter: Meter,
): Promise<Map<Oid, ShownOrigin>> {
  const origins = new Map<Oid, ShownOrigin>();
  for (const { commit } of blamed) {
    if (origins.has(commit)) continue;
    origins.set(commit, showOrigin(commit, readCommit(objects, commit)));
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
  return origins;
}

/**
 * Yields the records of the blamed lines one by one while the response is written, because a long file can have
 * hundreds of thousands of lines.
 */
function* showLines(
  blamed: readonly BlamedLines[],
  origins: ReadonlyMap<Oid, ShownOrigin>,
): Generator<z.infer<ReturnType<typeof blamedLine>>> {
  for (const { start, count, commit, originalStart, originalPath, previous } of blamed) {
    const path = textOf(originalPath);
    const origin = origins.get(commit)!;
    for (let index = 0; index < count; index++) {
      yield {
        line_number: start + index + 1,
        commit_sha: commit,
        original_line_number: originalStart + index + 1,
        original_path: path,
        ...(previous ? { previous_commit_sha: previous.commit } : {}),
        ...origin,
      };
    }
  }
}

function showOrigin(oid: Oid, { author, committer, message }: Commit) {
  // The summary is the same as in `git blame`. Leading blank lines are skipped, and the commit id replaces an empty
  // subject.
  const subject = message.replace(/^\s*\n/, '').split('\n', 1)[0]!;
  return {
    author_name: author.name,
    author_email: author.email,
    author_time: formatDate(author),
    committer_name: committer.name,
    committer_email: committer.email,
    committer_time: formatDate(committer),
    summary: subject === '' ? `(${oid})` : subject,
  };
}

/**
 * Returns the commit that last changed each line range of a file. Throws `missing()` if the file does not exist, and
 * `bad_request` if a requested range is invalid.
 */
export async function blameOrRefuse(
  { meter }: { readonly meter: Meter },
  { id, git, content }: Repository,
  asked: Omit<BlameRequest, 'known' | 'meter'>,
  missing: () => Error,
): Promise<BlamedLines[]> {
  await git.history.extend([asked.commit], meter);
  const blames = content.responses.shared(BlameMemory, () => new BlameMemory(content.responses));
  const lines = () => blameLines(git.objects, git.history.graph, { ...asked, known: blames.of(id), meter });
  return translateError(
    NoSuchFile,
    () => translateError(BadLineRange, lines, ({ message }) => problem('bad_request', `range: ${message}.`)),
    missing,
  );
}
