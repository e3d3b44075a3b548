import { type Mutant, patched, proxied } from '../mutant.js';
import { ignoresScope, ignoresSignature, takesFirstRepository } from '../patches.js';
import { GREP } from '../places.js';
import type { Rewrite } from '../proxy.js';
import {
  assumesMember,
  changesJson,
  changesMember,
  changesRequest,
  changesStatus,
  ignoresMember,
  isAt,
  setsHeader,
  takesFirstItem,
} from '../rewrites.js';

interface Search {
  ref?: string;
  query?: { pattern?: string; case_sensitive?: boolean };
}

/** Changes the bodies of search requests before the server reads them. */
function changesSearch(change: (search: Search) => void): Rewrite {
  return changesRequest<Search>(GREP, change);
}

interface Line {
  line_number: number;
  text: string;
  type: string;
}

interface Found {
  query: { case_sensitive?: boolean | undefined };
  repo: { ref: unknown; commit: string };
  matches: { path: string; lines: Line[] }[] | null;
  next_cursor: unknown;
  has_more: unknown;
}

/** Changes the successful responses to searches. */
function changesFound(change: (found: Found) => void): Rewrite {
  return changesJson<Found>(GREP, change, 200);
}

function linesOf({ matches }: Found): Line[] {
  return (matches ?? []).flatMap(({ lines }) => lines);
}

export const rows: readonly Mutant[] = [
  proxied('grep-sends-no-x-cache-without-matches', 'grep.x-cache#no-matches', 'sends no X-Cache if nothing matches', {
    response: ({ request, status, headers, body }) => {
      if (isAt(GREP, request) && status === 200 && body.includes('"matches":[]')) delete headers['x-cache'];
    },
  }),
  proxied(
    'grep-ignores-letters-of-refs',
    'grep.err.404.ref#similar',
    'finds a branch in other letters',
    changesMember(GREP, 'ref', (ref) => (ref === 'MAIN' ? 'main' : ref)),
  ),
  proxied(
    'grep-always-looks-at-case',
    'grep.case.false',
    'always looks at case',
    ignoresMember(GREP, 'case_sensitive'),
  ),
  proxied(
    'grep-ignores-include-globs',
    'grep.include_globs',
    'does not look at include_globs',
    ignoresMember(GREP, 'include_globs'),
  ),
  proxied('grep-shows-no-context', 'grep.context.before', 'shows no context', ignoresMember(GREP, 'context')),
  proxied(
    'grep-counts-lines-from-zero',
    'grep.resp.line.line_number',
    'counts lines from zero',
    changesJson<{ matches: { lines: { line_number: number }[] }[] }>(
      GREP,
      ({ matches }) => {
        for (const { lines } of matches) for (const line of lines) line.line_number -= 1;
      },
      200,
    ),
  ),
  proxied(
    'grep-shows-100-lines-unless-asked',
    'grep.max_lines.default',
    'shows 100 lines unless asked',
    assumesMember(GREP, 'limits.max_lines', 100),
  ),
  proxied(
    'grep-shows-20-of-a-file',
    'grep.max_matches_per_file.default',
    'shows 20 of a file',
    assumesMember(GREP, 'limits.max_matches_per_file', 20),
  ),
  proxied('grep-pages-by-50', 'grep.page.limit.default', 'pages by 50', assumesMember(GREP, 'pagination.limit', 50)),
  proxied(
    'grep-starts-over-on-every-page',
    'grep.page.cursor.continues',
    'starts over on every page',
    ignoresMember(GREP, 'cursor'),
  ),
  proxied('grep-answers-201', 'grep.route', 'answers a search with 201', changesStatus(GREP, 200, 201)),
  patched(
    'grep-searches-the-first-repository',
    'grep.repo-from-claim',
    'searches the first repository of the organization',
    takesFirstRepository('grep'),
  ),
  proxied(
    'grep-searches-the-commit-before',
    'grep.ref.default',
    'searches the first commit of the default branch unless asked',
    changesSearch((search) => {
      search.ref ??= 'v1';
    }),
  ),
  proxied(
    'grep-ignores-branches',
    'grep.ref.branch',
    'searches the default branch, whichever is named',
    changesSearch((search) => {
      if (search.ref === 'feature') search.ref = 'main';
    }),
  ),
  proxied(
    'grep-knows-no-tags',
    'grep.ref.tag',
    'takes the name of a tag for that of a branch',
    changesSearch((search) => {
      if (/^v\d$/.test(String(search.ref))) search.ref = `refs/heads/${search.ref}`;
    }),
  ),
  proxied(
    'grep-ignores-commits',
    'grep.ref.sha',
    'searches the default branch where a commit is named',
    changesSearch((search) => {
      if (/^[0-9a-f]{40}$/.test(String(search.ref))) search.ref = 'main';
    }),
  ),
  proxied(
    'grep-finds-everything-without-a-pattern',
    'grep.pattern.required',
    'finds every line where there is no pattern',
    changesSearch((search) => {
      search.query = { pattern: '.', ...search.query };
    }),
  ),
  proxied(
    'grep-takes-patterns-as-text',
    'grep.pattern.regex',
    'takes a pattern for text',
    changesSearch((search) => {
      if (search.query?.pattern !== undefined)
        search.query.pattern = search.query.pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    }),
  ),
  proxied(
    'grep-finds-either-case',
    'grep.case.default-true',
    'finds either case unless asked',
    changesSearch((search) => {
      search.query = { case_sensitive: false, ...search.query };
    }),
  ),
  proxied('grep-ignores-paths', 'grep.paths', 'does not look at paths', ignoresMember(GREP, 'paths')),
  ...['paths', 'include_globs', 'exclude_globs', 'extension_filters'].map((name) =>
    proxied(
      `grep-takes-the-first-of-${name.replace('_', '-')}`,
      `grep.${name}#second`,
      `uses only the first item of ${name}`,
      takesFirstItem(GREP, name),
    ),
  ),
  proxied(
    'grep-ignores-exclude-globs',
    'grep.exclude_globs',
    'does not look at exclude_globs',
    ignoresMember(GREP, 'exclude_globs'),
  ),
  proxied(
    'grep-ignores-extensions',
    'grep.extension_filters',
    'does not look at extension_filters',
    ignoresMember(GREP, 'extension_filters'),
  ),
  proxied(
    'grep-takes-a-bad-pattern-for-unprocessable',
    'grep.err.400.regex',
    'answers a bad pattern with 422',
    changesStatus(GREP, 400, 422),
  ),
  patched('grep-raises-max-lines', 'grep.max_lines.maximum', 'shows as many lines as it is asked for', {
    file: 'api/operations/grep.js',
    find: 'Math.min(limits?.max_lines ?? MAX_LINES, MAX_LINES)',
    replace: 'limits?.max_lines ?? MAX_LINES',
  }),
  proxied(
    'grep-ignores-the-limit-of-a-page',
    'grep.page.limit.explicit',
    'does not look at pagination.limit',
    ignoresMember(GREP, 'pagination'),
  ),
  patched(
    'grep-starts-over-at-a-bad-cursor',
    'grep.page.cursor.invalid',
    'shows the first page for a cursor that it never gave out',
    {
      file: 'api/operations/grep.js',
      find: "openList(ctx, { cursor }, ['grep', repository.id, searched])",
      replace: `(() => {
      try {
        return openList(ctx, { cursor }, ['grep', repository.id, searched]);
      } catch {
        return openList(ctx, {}, ['grep', repository.id, searched]);
      }
    })()`,
    },
  ),
  proxied(
    'grep-has-no-cursor-for-the-next-page',
    'grep.resp.next_cursor',
    'promises more and gives no cursor',
    changesFound((response) => {
      response.next_cursor = null;
    }),
  ),
  proxied(
    'grep-writes-has-more-as-text',
    'grep.resp.has_more',
    'writes has_more as text',
    changesFound((response) => {
      response.has_more = String(response.has_more);
    }),
  ),
  proxied(
    'grep-forgets-what-was-asked',
    'grep.resp.query.pattern#case-sensitive',
    'does not repeat whether case counted',
    changesFound((response) => {
      response.query.case_sensitive = undefined;
    }),
  ),
  proxied(
    'grep-does-not-say-which-ref',
    'grep.resp.repo.ref',
    'has null for the ref where none was named',
    changesFound((response) => {
      response.repo.ref = null;
    }),
  ),
  proxied(
    'grep-shortens-the-commit',
    'grep.resp.repo.commit',
    'shows the first digits of the commit',
    changesFound((response) => {
      response.repo.commit = response.repo.commit.slice(0, 12);
    }),
  ),
  proxied(
    'grep-has-null-for-nothing',
    'grep.resp.matches.array',
    'has null for matches where it finds nothing',
    changesFound((response) => {
      if (response.matches?.length === 0) response.matches = null;
    }),
  ),
  proxied(
    'grep-spells-paths-from-the-root',
    'grep.resp.match.path',
    'starts paths with a slash',
    changesFound((response) => {
      for (const match of response.matches ?? []) match.path = `/${match.path}`;
    }),
  ),
  proxied(
    'grep-cuts-lines',
    'grep.resp.line.text',
    'cuts lines after four characters',
    changesFound((response) => {
      for (const line of linesOf(response)) line.text = line.text.slice(0, 4);
    }),
  ),
  proxied(
    'grep-calls-every-line-a-match',
    'grep.resp.line.type',
    'calls a line of context a match',
    changesFound((response) => {
      for (const line of linesOf(response)) line.type = 'match';
    }),
  ),
  proxied('grep-does-not-say-where-it-found-it', 'grep.x-cache', 'has no header X-Cache', setsHeader(GREP, 'x-cache')),
  proxied(
    'grep-forbids-without-a-token',
    'grep.err.401.no-header',
    'answers a search without a token with 403',
    changesStatus(GREP, 401, 403),
  ),
  patched(
    'grep-ignores-the-signature',
    'grep.err.403.invalid-jwt',
    'does not look at the signature of a token',
    ignoresSignature('grep'),
  ),
  patched('grep-ignores-scopes', 'grep.err.403.scope', 'searches for a token of any scope', ignoresScope('grep')),
  proxied(
    'grep-forbids-a-missing-repository',
    'grep.err.404.repo',
    'answers a search of a missing repository with 403',
    changesStatus(GREP, 404, 403),
  ),
  proxied(
    'grep-takes-a-missing-ref-for-a-mistake',
    'grep.err.404.ref',
    'answers a ref that does not exist with 400',
    changesStatus(GREP, 404, 400),
  ),
  proxied('grep-is-a-bad-gateway', 'grep.err.500', 'answers a failing command with 502', changesStatus(GREP, 500, 502)),
  proxied(
    'grep-is-locked-while-it-syncs',
    'grep.err.503.sync',
    'answers with 423 while the repository is synced',
    changesStatus(GREP, 503, 423),
  ),
  proxied(
    'grep-breaks-without-storage',
    'grep.err.503.storage',
    'answers with 500 without storage',
    changesStatus(GREP, 503, 500),
  ),
  proxied(
    'grep-times-out-as-a-client',
    'grep.err.504',
    'answers a search that takes too long with 408',
    changesStatus(GREP, 504, 408),
  ),
];
