import { type Mutant, type Patch, patched, proxied } from '../mutant.js';
import { GREP } from '../places.js';
import type { Rewrite } from '../proxy.js';
import { changesJson, changesRequest } from '../rewrites.js';

interface Search {
  ref?: string;
  query: { pattern: string; case_sensitive?: boolean };
  paths?: string[];
  file_filters?: { include_globs?: string[]; exclude_globs?: string[]; extension_filters?: string[] };
  context?: { before?: number; after?: number };
}

/** Changes searches before the server reads them. Searches without a pattern stay unchanged. */
function changesSearch(change: (search: Search) => unknown): Rewrite {
  return changesRequest<Search>(GREP, (search) => {
    if (search.query !== undefined) change(search);
  });
}

/** Changes the filters of a search before the server reads it. */
function changesFilters(change: (filters: NonNullable<Search['file_filters']>, search: Search) => unknown): Rewrite {
  return changesSearch((search) => {
    if (search.file_filters !== undefined) change(search.file_filters, search);
  });
}

interface Item {
  lines: { line_number: number; text: string; type: string }[];
}

function changesItems(change: (item: Item) => unknown): Rewrite {
  return changesJson<{ matches: Item[] }>(GREP, ({ matches }) => matches.forEach(change), 200);
}

/**
 * Makes a search read another revision if `condition` is true. The response still reports the requested commit.
 * `condition` and `other` (the revision) are JavaScript expressions.
 */
function searchesOther(condition: string, other: string): readonly Patch[] {
  return [
    {
      file: 'api/operations/grep.js',
      find: 'resolveRef(ctx, { ref, ephemeral: body.ephemeral })',
      replace: `resolveRef(ctx, { ref: ${condition} ? ${other} : ref, ephemeral: body.ephemeral })`,
    },
    {
      file: 'api/operations/grep.js',
      find: 'repo: { ref: shown, commit }',
      replace: `repo: { ref: shown, commit: ${condition} ? (await resolveRef(ctx, { ref })).commit : commit }`,
    },
  ];
}

const isLower = (pattern: string) => pattern === pattern.toLowerCase();

export const rows: readonly Mutant[] = [
  patched(
    'grep-searches-the-default-branch-for-another',
    'grep.ref.branch',
    'reports the commit of a branch and searches that of the default branch',
    searchesOther("ref === 'feature'", 'undefined'),
  ),
  patched(
    'grep-searches-the-default-branch-for-a-tag',
    'grep.ref.tag',
    'reports the commit of a tag and searches that of the default branch',
    searchesOther('/^v[0-9]$/.test(ref)', 'undefined'),
  ),
  patched(
    'grep-searches-the-first-commit-by-default',
    'grep.ref.default',
    'reports the tip of the default branch and searches the commit before it',
    searchesOther('ref === undefined && repository.name.includes("history")', "'HEAD~1'"),
  ),
  proxied(
    'grep-takes-every-path-for-a-folder',
    'grep.paths#file',
    'takes each path for that of a folder',
    changesSearch((search) => {
      search.paths = search.paths?.map((path) => (/\./.test(path) ? `${path}/` : path)) ?? [];
      if (search.paths.length === 0) Reflect.deleteProperty(search, 'paths');
    }),
  ),
  proxied(
    'grep-compares-the-start-of-paths',
    'grep.paths#whole-names',
    'searches each path that begins with the characters of a listed one',
    changesSearch((search) => {
      if (search.paths !== undefined) search.paths = search.paths.map((path) => `${path}*`);
    }),
  ),
  proxied(
    'grep-needs-a-folder-for-two-stars',
    'grep.include_globs#root',
    'does not match files in the root folder with a glob that begins with two stars',
    changesFilters((filters) => {
      if (filters.include_globs !== undefined)
        filters.include_globs = filters.include_globs.map((glob) => glob.replace(/^\*\*\//, '*/**/'));
    }),
  ),
  ...(['include_globs', 'exclude_globs', 'extension_filters'] as const).flatMap((name) => [
    ...(name === 'exclude_globs'
      ? []
      : [
          proxied(
            `grep-ignores-paths-beside-${name.replace('_', '-')}`,
            `grep.${name}#with-paths`,
            `does not look at paths if the search has ${name}`,
            changesFilters((filters, search) => {
              if (filters[name] !== undefined) Reflect.deleteProperty(search, 'paths');
            }),
          ),
        ]),
    proxied(
      `grep-ignores-${name.replace('_', '-')}-beside-paths`,
      `grep.${name}#with-paths`,
      `does not look at ${name} if the search has paths`,
      changesFilters((filters, search) => {
        if (search.paths !== undefined) delete filters[name];
      }),
    ),
  ]),
  proxied(
    'grep-includes-what-is-excluded',
    'grep.exclude_globs#from-included',
    'does not look at exclude_globs if the search has include_globs',
    changesFilters((filters) => {
      if (filters.include_globs !== undefined) delete filters.exclude_globs;
    }),
  ),
  proxied(
    'grep-keeps-excluded-files-of-an-extension',
    'grep.exclude_globs#with-extensions',
    'does not look at exclude_globs if the search has extension_filters',
    changesFilters((filters) => {
      if (filters.extension_filters !== undefined) delete filters.exclude_globs;
    }),
  ),
  proxied(
    'grep-compares-extensions-without-the-dot',
    'grep.extension_filters#whole-extension',
    'finds every name that ends with the letters of an extension',
    changesFilters((filters) => {
      if (filters.extension_filters === undefined) return;
      filters.include_globs = filters.extension_filters.map((extension) => `**/*${extension.slice(1)}`);
      delete filters.extension_filters;
    }),
  ),
  proxied(
    'grep-finds-extensions-inside-names',
    'grep.extension_filters#whole-extension',
    'finds every name that contains an extension',
    changesFilters((filters) => {
      if (filters.extension_filters === undefined) return;
      filters.include_globs = filters.extension_filters.map((extension) => `**/*${extension}*`);
      delete filters.extension_filters;
    }),
  ),
  proxied(
    'grep-shows-no-context-before-alone',
    'grep.context.before#only-before',
    'shows context only if the search has context.after',
    changesSearch((search) => {
      if (search.context?.after === undefined) delete search.context;
    }),
  ),
  proxied(
    'grep-shows-no-context-after-alone',
    'grep.context.before#only-after',
    'shows context only if the search has context.before',
    changesSearch((search) => {
      if (search.context?.before === undefined) delete search.context;
    }),
  ),
  proxied(
    'grep-uses-context-before-on-both-sides',
    'grep.context.before#other-side',
    'uses context.before for both sides if the search has no context.after',
    changesSearch(({ context }) => {
      if (context?.before !== undefined) context.after ??= context.before;
    }),
  ),
  proxied(
    'grep-uses-context-after-on-both-sides',
    'grep.context.before#other-side',
    'uses context.after for both sides if the search has no context.before',
    changesSearch(({ context }) => {
      if (context?.after !== undefined) context.before ??= context.after;
    }),
  ),
  proxied(
    'grep-takes-no-context-for-two-lines',
    'grep.context.before#zero',
    'takes 0 lines of context for a default of 2',
    changesSearch(({ context }) => {
      if (context?.before === 0) context.before = 2;
    }),
  ),
  proxied(
    'grep-shows-a-line-before-the-first',
    'grep.context.before#edges',
    'shows an empty line 0 before a match in the first line',
    changesItems(({ lines }) => {
      if (lines.length > 1 && lines[0]?.line_number === 1) lines.unshift({ line_number: 0, text: '', type: 'context' });
    }),
  ),
  proxied(
    'grep-shows-no-context-at-the-edges',
    'grep.context.before#edges',
    'shows no context around a match in the first line',
    changesItems((item) => {
      if (item.lines[0]?.line_number === 1) item.lines = item.lines.filter(({ type }) => type === 'match');
    }),
  ),
  proxied(
    'grep-repeats-context-between-matches',
    'grep.context.before#overlap',
    'repeats the lines of context that two matches share',
    changesItems((item) => {
      item.lines = item.lines.flatMap((line, at, { [at - 1]: before, [at + 1]: after }) =>
        line.type === 'context' && before?.type === 'match' && after?.type === 'match' ? [line, line] : [line],
      );
    }),
  ),
  proxied(
    'grep-takes-an-adjacent-match-for-context',
    'grep.context.before#adjacent',
    'shows a match directly after another match as context',
    changesItems(({ lines }) => {
      for (const [at, line] of [...lines.entries()].reverse()) {
        if (line.type === 'match' && lines[at - 1]?.type === 'match') line.type = 'context';
      }
    }),
  ),
  proxied(
    'grep-takes-a-near-match-for-context',
    'grep.context.before#overlap',
    'calls a match in the context of another one context',
    changesItems(({ lines }) => {
      for (const [at, line] of lines.entries()) {
        if (line.type === 'match' && lines[at - 1]?.type === 'context' && lines[at - 2]?.type === 'match')
          line.type = 'context';
      }
    }),
  ),
  proxied(
    'grep-lowers-the-pattern-only',
    'grep.case.false#capitals-in-text',
    'finds no capitals for a pattern in lower case, although case does not count',
    changesSearch(({ query }) => {
      if (query.case_sensitive === false && isLower(query.pattern)) query.case_sensitive = true;
    }),
  ),
  proxied(
    'grep-looks-at-case-of-capitals',
    'grep.case.false#capitals-in-pattern',
    'looks at case if the pattern has capitals, although case does not count',
    changesSearch(({ query }) => {
      if (query.case_sensitive === false && !isLower(query.pattern)) query.case_sensitive = true;
    }),
  ),
  proxied(
    'grep-ignores-case-of-lower-patterns',
    'grep.case.default-true#capitals-in-text',
    'does not look at case if the pattern has no capitals',
    changesSearch(({ query }) => {
      if (isLower(query.pattern)) query.case_sensitive = false;
    }),
  ),
  proxied(
    'grep-ignores-case-of-capitals',
    'grep.case.default-true#capitals-in-pattern',
    'does not look at case if the pattern has capitals',
    changesSearch(({ query }) => {
      if (!isLower(query.pattern)) query.case_sensitive = false;
    }),
  ),
  proxied(
    'grep-cuts-lines-at-200',
    'grep.resp.line.text#long',
    'cuts lines after 200 characters',
    changesItems(({ lines }) => {
      for (const line of lines) line.text = line.text.slice(0, 200);
    }),
  ),
  proxied(
    'grep-trims-lines',
    'grep.resp.line.text#indented',
    'removes white space around lines',
    changesItems(({ lines }) => {
      for (const line of lines) line.text = line.text.trim();
    }),
  ),
  proxied(
    'grep-reads-lines-as-latin1',
    'grep.resp.line.text#non-ascii',
    'reads the bytes of lines as Latin-1',
    changesItems(({ lines }) => {
      for (const line of lines) line.text = Buffer.from(line.text).toString('latin1');
    }),
  ),
];
