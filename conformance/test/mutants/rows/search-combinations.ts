import { ABSENT_SHA } from '../../../api/requests.js';
import { UNUSUAL_FILES } from '../../../fixtures/patterns.js';
import { type Mutant, patched, proxied } from '../mutant.js';
import { GREP } from '../places.js';
import type { ProxiedRequest, ProxiedResponse } from '../proxy.js';
import { changesJson, changesRequest } from '../rewrites.js';
import { changesResponsesTo } from '../tokens.js';

interface Search {
  ref?: string;
  query?: { pattern?: string; case_sensitive?: boolean };
  paths?: string[];
  file_filters?: { include_globs?: string[]; exclude_globs?: string[]; extension_filters?: string[] | undefined };
}

interface Found {
  query?: { pattern: string; case_sensitive: boolean };
  repo: { commit: string };
  matches: { path: string; lines: { text: string }[] }[];
  has_more?: boolean;
}

/** Changes the responses to searches with a cursor, which are the second and later pages. */
function changesLaterPages(change: (found: Found, response: ProxiedResponse) => void) {
  return changesResponsesTo(
    (request) => `${request.method} ${request.path}` === GREP && /"cursor":"[^"]/.test(request.body.toString()),
    (response) => {
      if (response.status !== 200) return;
      const found: Found = JSON.parse(response.body.toString());
      change(found, response);
      response.body = Buffer.from(JSON.stringify(found));
    },
  );
}

function changesFound(change: (found: Found) => void) {
  return changesJson<Found>(GREP, change, 200);
}

function changesTexts(change: (text: string) => string) {
  return changesFound(({ matches }) => {
    for (const line of matches.flatMap(({ lines }) => lines)) line.text = change(line.text);
  });
}

/**
 * Servers that are wrong only in combinations. They ignore a member of a search if another member is present, or change
 * only some responses.
 */
export const rows: readonly Mutant[] = [
  ...(['paths', 'ref'] as const).map((name) =>
    proxied(
      `grep-looks-at-case-with-${name}`,
      `grep.case.false#with-${name}`,
      `always looks at case in a search with ${name}`,
      changesRequest<Search>(GREP, (search) => {
        if (search[name] !== undefined && search.query !== undefined) search.query.case_sensitive = true;
      }),
    ),
  ),
  proxied(
    'grep-lists-matches-once-per-path',
    'grep.paths#overlap',
    'lists the matches of a file once for each path that selects it',
    changesJson<Found>(
      GREP,
      ({ matches }, { request }) => {
        const { paths = [] }: Search = JSON.parse((request as ProxiedRequest).body.toString());
        if (paths.length > 1) matches.push(...matches.filter(({ path }) => path === paths[0] && path !== paths[1]));
      },
      200,
    ),
  ),
  proxied(
    'grep-lists-matches-once-per-glob',
    'grep.include_globs#overlap',
    'lists the matches of a file once for each glob that it matches',
    changesJson<Found>(
      GREP,
      ({ matches }, { request }) => {
        const { file_filters: filters }: Search = JSON.parse((request as ProxiedRequest).body.toString());
        if ((filters?.include_globs?.length ?? 0) < 3) return;
        matches.push(...matches.filter(({ path }) => /^lib\/.*\.(js|md)$/.test(path)));
      },
      200,
    ),
  ),
  proxied(
    'grep-finds-paths-anywhere',
    'grep.paths#from-root',
    'searches each folder with the name of a listed path, wherever it is',
    changesRequest<Search>(GREP, (search) => {
      if (search.paths?.[0] === 'deep') search.paths.push('lib/deep');
    }),
  ),
  ...Object.entries(UNUSUAL_FILES).map(([clause, unusual]) =>
    proxied(
      `grep-leaves-${clause}-files-out`,
      `grep.route#${clause}`,
      `leaves ${clause} files out`,
      changesFound((found) => {
        found.matches = found.matches.filter(({ path }) => path !== unusual);
      }),
    ),
  ),
  proxied(
    'grep-needs-a-newline-at-the-end',
    'grep.resp.line.text#unterminated',
    'does not search the last line of a file if no newline follows it',
    changesFound((found) => {
      found.matches = found.matches.filter(({ lines }) => lines[0]?.text !== 'three');
    }),
  ),
  proxied(
    'grep-ignores-ref-with-paths',
    'grep.paths#with-ref',
    'does not look at ref if there are paths',
    changesRequest<Search>(GREP, (search) => {
      if (search.paths !== undefined) delete search.ref;
    }),
  ),
  proxied(
    'grep-reads-the-pattern-for-files-only',
    'grep.err.400.regex#no-files',
    'does not look at the pattern if no file is below the paths',
    changesRequest<Search>(GREP, ({ query, paths }) => {
      if (query !== undefined && paths?.[0]?.startsWith('no/')) query.pattern = 'e';
    }),
  ),
  proxied(
    'grep-takes-the-default-branch-for-an-unknown-sha',
    'grep.err.404.ref#sha',
    'searches the default branch if no commit has the SHA in ref',
    changesRequest<Search>(GREP, (search) => {
      if (search.ref === ABSENT_SHA) delete search.ref;
    }),
  ),
  patched(
    'grep-searches-the-history-of-the-default-branch-only',
    'grep.ref.sha#side-branch',
    'finds only commits in the history of the default branch by their SHA',
    {
      file: 'api/operations/grep.js',
      find: 'const search = () => searchPage(',
      replace: `const { git } = repository;
        const isInHistory = () => [...git.history.logEach({ tips: [git.refs.headOid] })].includes(commit);
        if (/^[0-9a-f]{40}$/.test(ref ?? '') && !isInHistory()) throw problem('ref_not_found', 'No such commit.');
        const search = () => searchPage(`,
    },
  ),
  proxied(
    'grep-ignores-extensions-with-globs',
    'grep.extension_filters#with-globs',
    'does not look at extension_filters if there are include_globs',
    changesRequest<Search>(GREP, ({ file_filters: filters }) => {
      if (filters?.include_globs !== undefined) filters.extension_filters = undefined;
    }),
  ),
  proxied(
    'grep-excludes-nothing-in-the-root',
    'grep.exclude_globs#root',
    'leaves out no file in the root folder for a glob that begins with **/',
    changesRequest<Search>(GREP, ({ file_filters: filters }) => {
      if (filters?.exclude_globs === undefined) return;
      filters.exclude_globs = filters.exclude_globs.map((glob) => glob.replace(/^\*\*\//, '*/**/'));
    }),
  ),
  proxied(
    'grep-repeats-the-pattern-in-lower-case',
    'grep.resp.query.pattern#capitals',
    'repeats the pattern in lower case if case is ignored',
    changesFound(({ query }) => {
      if (query?.case_sensitive === false) query.pattern = query.pattern.toLowerCase();
    }),
  ),
  proxied(
    'grep-repeats-the-pattern-escaped',
    'grep.resp.query.pattern#escapes',
    'repeats the pattern as it would be in a URL',
    changesFound(({ query }) => {
      if (query !== undefined) query.pattern = encodeURI(query.pattern);
    }),
  ),
  proxied(
    'grep-quotes-odd-paths',
    'grep.resp.match.path#odd-characters',
    'quotes paths with non-ASCII characters as Git prints them',
    changesFound(({ matches }) => {
      for (const match of matches) {
        const escaped = Buffer.from(match.path)
          .toString('latin1')
          .replace(/[\x80-\xff]/g, (one) => `\\${one.charCodeAt(0).toString(8)}`);
        if (escaped !== match.path) match.path = `"${escaped}"`;
      }
    }),
  ),
  proxied(
    'grep-shows-ascii-only',
    'grep.resp.line.text#non-ascii',
    'shows question marks for non-ASCII characters of a line',
    changesTexts((text) => text.replace(/[^\x20-\x7e\s]/gu, '?')),
  ),
  proxied(
    'grep-escapes-lines',
    'grep.resp.line.text#markup',
    'escapes the text of lines for HTML',
    changesTexts((text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')),
  ),
  proxied(
    'grep-has-no-x-cache-on-later-pages',
    'grep.x-cache#next-page',
    'has the header X-Cache on the first page only',
    changesLaterPages((_found, { headers }) => {
      delete headers['x-cache'];
    }),
  ),
  proxied(
    'grep-has-no-query-on-later-pages',
    'grep.page.cursor.continues#query',
    'repeats the query on the first page only',
    changesLaterPages((found) => {
      delete found.query;
    }),
  ),
  proxied(
    'grep-has-no-commit-on-later-pages',
    'grep.page.cursor.continues#commit',
    'has an empty commit on later pages',
    changesLaterPages(({ repo }) => {
      repo.commit = '';
    }),
  ),
  proxied(
    'grep-does-not-say-that-nothing-follows-nothing',
    'grep.resp.has_more#none',
    'has no member has_more if nothing matches',
    changesFound((found) => {
      if (found.matches.length === 0) delete found.has_more;
    }),
  ),
];
