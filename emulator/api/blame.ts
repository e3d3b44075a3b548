import { z } from 'zod';
import { BadLineRange, type BlamedLines, blame, NoSuchFile } from '../git/blame/index.js';
import { textOf } from '../git/bytes.js';
import { type Commit, readCommit } from '../git/commit.js';
import { formatDate } from '../git/identity.js';
import type { ObjectReader, Oid } from '../git/object.js';
import { DeadlineExceeded } from '../git/turn.js';
import { problem } from '../http/problem.js';
import { json } from '../http/reply.js';
import { operation } from '../operation.js';
import { flag, readFilePath } from './fields.js';
import { resolveRef } from './resolve.js';

const MOST_RANGES = 16;
/** A blame walks history; it gets longer than a search before it is given up. */
const TIMES_SEARCH = 5;

const blamedLine = z.object({
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
});

export const blameFile = operation({
  id: 'blame',
  group: 'Files',
  summary: 'Show who brought in each line of a file',
  routes: [
    { method: 'GET', path: '/api/repos/{repo_name}/blame' },
    { method: 'GET', path: '/api/v1/repos/blame' },
  ],
  scopes: ['git:read'],
  subject: 'repository',
  effect: 'read',
  query: z.object({
    path: z.string(),
    ref: z.string().optional(),
    ephemeral: flag.optional(),
    range: z.array(z.string()).max(MOST_RANGES, `takes at most ${MOST_RANGES} ranges`).optional(),
    detect_moves: flag.optional(),
  }),
  repeated: ['range'],
  replies: {
    200: z.object({ ref: z.string(), path: z.string(), commit_sha: z.string(), lines: z.array(blamedLine) }),
  },
  errors: [400, 404, 504],
  handle: async ({ repository, query, world, signal }) => {
    const path = readFilePath(query.path, 'path');
    const { objects, history } = repository.git;
    const { commit, shown } = resolveRef(repository, { ref: query.ref, ephemeral: query.ephemeral });
    await history.extend([commit]);
    try {
      const blamed = await blame(objects, history, {
        commit,
        path,
        ranges: query.range,
        detectMoves: query.detect_moves,
        signal,
        deadline: performance.now() + TIMES_SEARCH * world.limits.searchTimeout,
      });
      return json(200, { ref: shown, path: textOf(path), commit_sha: commit, lines: showLines(objects, blamed) });
    } catch (error) {
      if (error instanceof NoSuchFile) throw problem('not_found', `There is no file ${textOf(path)} at ${shown}.`);
      if (error instanceof BadLineRange) throw problem('bad_request', `range: ${error.message}.`);
      if (error instanceof DeadlineExceeded) throw problem('gateway_timeout', 'The blame took too long.');
      throw error;
    }
  },
});

function showLines(objects: ObjectReader, blamed: readonly BlamedLines[]): z.infer<typeof blamedLine>[] {
  const commits = new Map<Oid, ReturnType<typeof showOrigin>>();
  return blamed.flatMap((stretch) => {
    const origin = commits.get(stretch.commit) ?? showOrigin(stretch.commit, readCommit(objects, stretch.commit));
    commits.set(stretch.commit, origin);
    return Array.from({ length: stretch.count }, (_, index) => ({
      line_number: stretch.start + index + 1,
      commit_sha: stretch.commit,
      original_line_number: stretch.originalStart + index + 1,
      original_path: textOf(stretch.originalPath),
      ...(stretch.previous ? { previous_commit_sha: stretch.previous.commit } : {}),
      ...origin,
    }));
  });
}

function showOrigin(oid: Oid, { author, committer, message }: Commit) {
  // As git words it: blank lines before the subject are passed over, and a commit without one is named by its id.
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
