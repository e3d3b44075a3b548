import { type Mutant, type Patch, patched, proxied } from '../mutant.js';
import { GREP } from '../places.js';
import type { ProxiedRequest } from '../proxy.js';
import { changesJson, changesRequest } from '../rewrites.js';

interface Page {
  matches: unknown[];
  next_cursor: unknown;
  has_more: boolean;
}

interface Limited {
  limits?: { max_matches_per_file?: number };
  pagination?: { limit?: number; cursor?: string };
}

/** Changes the responses to searches. `change` also receives the body of the request. */
function changesPage(change: (page: Page, request: Limited) => void) {
  return changesJson<Page>(
    GREP,
    (page, { request }) => change(page, JSON.parse((request as ProxiedRequest).body.toString())),
    200,
  );
}

const patchOfGrep = (find: string, replace: string): Patch => ({ file: 'api/operations/grep.js', find, replace });

export const rows: readonly Mutant[] = [
  patched(
    'grep-shows-two-lines-for-one',
    'grep.max_lines.default#one',
    'shows two lines if max_lines is 1',
    patchOfGrep(
      'limits?.max_lines ?? MAX_LINES, MAX_LINES)',
      'limits?.max_lines ?? MAX_LINES, MAX_LINES) + (limits?.max_lines === 1)',
    ),
  ),
  patched(
    'grep-shows-one-line-above-the-maximum',
    'grep.max_lines.maximum',
    'shows 2001 lines if asked',
    patchOfGrep(
      'Math.min(limits?.max_lines ?? MAX_LINES, MAX_LINES)',
      'Math.min(limits?.max_lines ?? MAX_LINES, MAX_LINES + 1)',
    ),
  ),
  patched(
    'grep-adds-context-to-max-lines',
    'grep.max_lines.default#context',
    'shows the context lines of a match in addition to max_lines',
    patchOfGrep(
      'limits?.max_lines ?? MAX_LINES, MAX_LINES)',
      'limits?.max_lines ?? MAX_LINES, MAX_LINES) + (limits?.max_lines === undefined ? 0 : (context?.after ?? 0))',
    ),
  ),
  patched(
    'grep-shows-twice-the-maximum-with-context',
    'grep.max_lines.maximum#context',
    'shows 4000 lines if the request has context lines',
    patchOfGrep(
      'Math.min(limits?.max_lines ?? MAX_LINES, MAX_LINES)',
      'Math.min(limits?.max_lines ?? MAX_LINES, MAX_LINES) * (context?.after ? 2 : 1)',
    ),
  ),
  patched(
    'grep-limits-matches-of-all-files',
    'grep.max_matches_per_file.default#each-file',
    'shows max_matches_per_file matches of all files together',
    patchOfGrep(
      'Math.min(pagination?.limit ?? MATCHES, MAX_MATCHES)',
      'Math.min(pagination?.limit ?? MATCHES, limits?.max_matches_per_file ?? MAX_MATCHES)',
    ),
  ),
  proxied(
    'grep-shows-fewer-of-a-file',
    'grep.max_matches_per_file.default#exact',
    'shows one match per file fewer than max_matches_per_file',
    changesRequest<Limited>(GREP, ({ limits }) => {
      if ((limits?.max_matches_per_file ?? 0) > 1) limits!.max_matches_per_file! -= 1;
    }),
  ),
  proxied(
    'grep-takes-one-for-no-limit',
    'grep.page.limit.explicit#one',
    'takes a page of one match for a page without limit',
    changesRequest<Limited>(GREP, ({ pagination }) => {
      if (pagination?.limit === 1) delete pagination.limit;
    }),
  ),
  patched(
    'grep-forgets-filters-on-later-pages',
    'grep.page.cursor.continues#filters',
    'does not look at paths and globs on later pages',
    patchOfGrep('            selects,\n', '            selects: position ? undefined : selects,\n'),
  ),
  patched(
    'grep-continues-with-the-next-file',
    'grep.page.cursor.continues#one-file',
    'begins each page with another file',
    patchOfGrep('startAfter: position?.at', 'startAfter: position && { path: position.at.path, line: 1_000_000 }'),
  ),
  patched(
    'grep-counts-lines-anew-on-later-pages',
    'grep.page.cursor.continues#lines',
    'counts lines from the end of the page before',
    patchOfGrep('line_number: number', 'line_number: number - (position?.at.line ?? 0)'),
  ),
  proxied(
    'grep-promises-more-after-a-full-page',
    'grep.resp.has_more#exact',
    'says that there is more after each page that is full',
    changesPage((page, { pagination }) => {
      if (page.matches.length !== pagination?.limit || page.has_more) return;
      page.has_more = true;
      page.next_cursor ??= 'end';
    }),
  ),
  proxied(
    'grep-promises-nothing-after-a-full-page',
    'grep.resp.has_more#below',
    'says that there is nothing after a page that is full',
    changesPage((page, { pagination }) => {
      if (page.matches.length === pagination?.limit && page.matches.length > 5) page.has_more = false;
    }),
  ),
  proxied(
    'grep-promises-more-after-the-last-page',
    'grep.resp.has_more#last',
    'says on each page after the first that there is more',
    changesPage((page, { pagination }) => {
      if (pagination?.cursor === undefined) return;
      page.has_more = true;
      page.next_cursor ??= pagination.cursor;
    }),
  ),
  patched(
    'grep-reads-the-default-branch-on-later-pages',
    'grep.page.cursor.continues#ref',
    'reads the default branch on later pages, whichever ref is named',
    patchOfGrep(
      'position ?? (await resolveRef(ctx, { ref, ephemeral: body.ephemeral }))',
      '(ref ? undefined : position) ?? (await resolveRef(ctx, { ref: position ? undefined : ref }))',
    ),
  ),
  patched(
    'grep-shows-no-context-on-later-pages',
    'grep.page.cursor.continues#context',
    'shows context lines on the first page only',
    patchOfGrep('context?.before ?? 0, MAX_LINES)', 'position ? 0 : (context?.before ?? 0), MAX_LINES)'),
  ),
  proxied(
    'grep-has-no-default-after-a-cursor',
    'grep.page.limit.default#with-cursor',
    'shows up to 5000 matches for a cursor without a limit',
    changesRequest<Limited>(GREP, ({ pagination }) => {
      if (pagination?.cursor !== undefined) pagination.limit ??= 5000;
    }),
  ),
  patched(
    'grep-accepts-cursors-of-other-repositories',
    'grep.repo-from-claim#cursor',
    'accepts a cursor of another repository and fails to continue there',
    patchOfGrep("['grep', repository.id, searched]", "['grep', searched]"),
  ),
];
