import { type Mutant, proxied } from '../mutant.js';
import { GREP } from '../places.js';
import { assumesMember, changesJson, changesStatus, ignoresMember } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied('grep-ignores-scopes', 'grep.err.403.scope', 'does not look at scopes', changesStatus(GREP, 403, 200)),
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
];
