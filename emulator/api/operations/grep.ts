import { createHash } from 'node:crypto';
import { z } from 'zod';
import { compilePattern, InvalidPattern } from '../../git/grep/matcher.js';
import { type SearchPosition, searchPage } from '../../git/grep/search.js';
import { requestLimit } from '../../git/limits/request-limits.js';
import { textOf } from '../../git/object/bytes.js';
import { readCommit } from '../../git/object/commit.js';
import type { PathMatcher } from '../../git/pathspec/path-matcher.js';
import { problem, translateError } from '../../http/problem.js';
import { largeJson } from '../../http/reply.js';
import { lazy } from '../../memory/lazy.js';
import { operationsOf, routesOfRepository } from '../../operation/operation.js';
import { WorkLimitExceeded } from '../../schedule/meter.js';
import { runYielding, type Steps } from '../../schedule/steps.js';
import { patternList, readSelection } from '../fields.js';
import { openList } from '../paging.js';
import { type ResolvedRef, resolveRef } from '../resolve.js';

const operation = operationsOf('Files');

/** Default maximum numbers of matches: per file, and per response (specification, Limits). */
const MATCHES_PER_FILE = 200;
const MATCHES = 200;
const MAX_LINES = requestLimit('grepLines');
const MAX_MATCHES = requestLimit('grepMatches');

const count = lazy(() => z.int('must be a whole number of at least 0').min(0));
const limit = lazy(() => z.int('must be a whole number of at least 1').min(1));

const grepBody = lazy(() =>
  z.object({
    ref: z.string().optional(),
    rev: z.string().optional(),
    ephemeral: z.boolean().optional(),
    query: z.object({ pattern: z.string(), case_sensitive: z.boolean().default(true) }),
    paths: patternList(),
    file_filters: z
      .object({ include_globs: patternList(), exclude_globs: patternList(), extension_filters: patternList() })
      .optional(),
    context: z.object({ before: count().optional(), after: count().optional() }).optional(),
    limits: z.object({ max_lines: limit().optional(), max_matches_per_file: limit().optional() }).optional(),
    pagination: z.object({ cursor: z.string().optional(), limit: limit().optional() }).optional(),
  }),
);

interface Position extends ResolvedRef {
  readonly at: SearchPosition;
}

export const grep = operation({
  summary: 'Search the content of a tree',
  routes: routesOfRepository('POST', 'grep'),
  scopes: ['git:read'],
  body: grepBody,
  replies: () => ({
    200: z.object({
      query: z.object({ pattern: z.string(), case_sensitive: z.boolean() }),
      repo: z.object({ ref: z.string(), commit: z.string() }),
      matches: z.array(
        z.object({
          path: z.string(),
          lines: z.array(z.object({ line_number: z.int(), text: z.string(), type: z.enum(['match', 'context']) })),
        }),
      ),
      next_cursor: z.string().nullable(),
      has_more: z.boolean(),
    }),
  }),
  errors: ['ref_not_found', 'internal_error', 'service_unavailable', 'gateway_timeout'],
  work: { limit: 'searchTimeout' },
  handle: async (ctx) => {
    const { world, repository, body, meter } = ctx;
    const { pagination, limits, context, query } = body;
    const ref = body.ref ?? body.rev;
    const selects = await runYielding(selectedBy(body), meter);
    // The pattern is compiled first, so that an invalid pattern is refused even if the ref does not exist.
    const pattern = await translateError(
      InvalidPattern,
      () => compilePattern(query.pattern, !query.case_sensitive, meter),
      ({ message }) => problem('bad_request', `query.pattern: ${message}.`),
    );
    if ((limits?.max_lines ?? 0) > MAX_LINES && world.variants.linesAboveMaximum === 'rejected') {
      throw problem('bad_request', `limits.max_lines is above the maximum of ${MAX_LINES}.`);
    }
    const { pagination: _, limits: __, ...searched } = body;
    const cursor = pagination?.cursor || undefined;
    const list = openList<Position>(ctx, { cursor }, ['grep', repository.id, searched]);
    const { position } = list;
    const { commit, shown } = position ?? (await resolveRef(ctx, { ref, ephemeral: body.ephemeral }));
    const search = () =>
      searchPage(
        repository.content.texts,
        readCommit(repository.git.objects, commit).tree,
        {
          pattern,
          selects,
          before: Math.min(context?.before ?? 0, MAX_LINES),
          after: Math.min(context?.after ?? 0, MAX_LINES),
          startAfter: position?.at,
        },
        {
          maxMatches: Math.min(pagination?.limit ?? MATCHES, MAX_MATCHES),
          maxMatchesPerFile: Math.min(limits?.max_matches_per_file ?? MATCHES_PER_FILE, MAX_MATCHES),
          maxLines: Math.min(limits?.max_lines ?? MAX_LINES, MAX_LINES),
        },
        meter,
      );
    const page = await translateError(WorkLimitExceeded, search, () =>
      problem(
        'gateway_timeout',
        'The search took more CPU time than --search-timeout allows. Search fewer files or for a simpler pattern.',
      ),
    );
    const digest = createHash('sha256').update(JSON.stringify([repository.id, body, commit]));
    const seen = world.state.searches.note(digest.digest('base64'));
    return largeJson(
      200,
      {
        query: { pattern: query.pattern, case_sensitive: query.case_sensitive },
        repo: { ref: shown, commit },
        matches: page.files.map(({ path, lines }) => ({
          path: textOf(path),
          lines: lines.map(({ number, text, type }) => ({ line_number: number, text, type })),
        })),
        ...list.end(page.next !== undefined, () => ({ commit, shown, at: page.next! })),
      },
      { 'x-cache': seen ? 'HIT' : 'MISS' },
    );
  },
});

function selectedBy({
  paths,
  file_filters: filters,
}: z.infer<ReturnType<typeof grepBody>>): Steps<PathMatcher | undefined> {
  return readSelection({
    paths: ['paths', paths],
    includeGlobs: ['file_filters.include_globs', filters?.include_globs],
    excludeGlobs: ['file_filters.exclude_globs', filters?.exclude_globs],
    extensions: ['file_filters.extension_filters', filters?.extension_filters],
  });
}
