import { grep } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectSame, expectStatus } from '../../check/expect.js';
import { AssertionFailure } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { historyRepository } from '../../fixtures/history.js';
import { largeRepository } from '../../fixtures/large.js';
import { patternRepository } from '../../fixtures/patterns.js';
import type { JsonRecord } from '../../http/exchange.js';
import { defined } from '../../target/json.js';

/** Returns every line of every match in a search response. Each line has the path of its file. */
export function linesOf(response: ApiResponse) {
  return response.records('matches').flatMap((match) => {
    if (!Array.isArray(match.lines)) throw new AssertionFailure('every match must have lines', 'an array', match.lines);
    return (match.lines as JsonRecord[]).map((line) => ({
      path: String(match.path),
      line: line.line_number,
      text: String(line.text).replace(/\n$/, ''),
      type: line.type,
    }));
  });
}

export function matchesOf(response: ApiResponse) {
  return linesOf(response).filter(({ type }) => type === 'match');
}

export function textsOf(response: ApiResponse): string[] {
  return matchesOf(response).map(({ text }) => text);
}

export function pathsOf(response: ApiResponse): string[] {
  return [...new Set(matchesOf(response).map(({ path }) => path))].sort();
}

/**
 * Searches the history repository (fixture with known commits) for a pattern and expects status 200. `more`: additional
 * request members.
 */
export async function search(t: RuleContext, pattern: string, more: object = {}) {
  const history = await historyRepository(t);
  const { query = {}, ...rest } = more as { query?: object };
  const response = expectStatus(await grep(t, history.name, { query: { pattern, ...query }, ...rest }), 200);
  return { history, response };
}

/**
 * Searches the history repository (fixture with known commits) for a pattern. Expects `repo.commit` of the response to
 * be the given commit. `texts`: lines that must be found.
 */
export async function searchesCommit(
  t: RuleContext,
  commit: 'first' | 'second' | 'third' | 'feature',
  pattern: string,
  texts: readonly string[],
  more?: object,
): Promise<void> {
  const { history, response } = await search(t, pattern, more);
  expectSame(response.string('repo', 'commit'), history[commit].sha, `repo.commit must be the ${commit} commit`);
  expectSame(textsOf(response), texts, `the matches must be the lines of the ${commit} commit`);
}

/** Searches the history repository (fixture with known commits). Expects matches in exactly these files. */
export async function findsIn(t: RuleContext, paths: readonly string[], pattern: string, more?: object): Promise<void> {
  expectSame(pathsOf((await search(t, pattern, more)).response), paths, 'the matches must be in exactly these files');
}

/**
 * Searches the pattern repository (fixture with many kinds of paths and lines) and expects status 200. `more`:
 * additional request members.
 */
export async function searchPatterns(t: RuleContext, pattern: string, more: object = {}): Promise<ApiResponse> {
  const { name } = await patternRepository(t);
  const { query = {}, ...rest } = more as { query?: object };
  return expectStatus(await grep(t, name, { query: { pattern, ...query }, ...rest }), 200);
}

/**
 * Searches the pattern repository for a word that many of its files contain. Expects matches in exactly these files.
 */
export async function findsWordIn(t: RuleContext, paths: readonly string[], more: object): Promise<void> {
  const found = pathsOf(await searchPatterns(t, '^word in', more));
  expectSame(found, paths, `the matches of ${JSON.stringify(more)} must be in exactly these files`);
}

/**
 * Searches the pattern repository for a word that many of its files contain once. Expects one match in each of these
 * files, and no other.
 */
export async function findsWordOnceIn(t: RuleContext, paths: readonly string[], more: object): Promise<void> {
  const found = matchesOf(await searchPatterns(t, '^word in', more)).map(({ path }) => path);
  expectSame(found.sort(), paths, `the search with ${JSON.stringify(more)} must have one match in each of these files`);
}

/** Returns a check that searches the history repository (fixture with known commits) for this pattern. */
export const found = (pattern: string, more?: object) => (t: RuleContext) => search(t, pattern, more);

/** Searches the large repository (fixture that exceeds all default limits) and expects status 200. */
export async function searchLarge(t: RuleContext, pattern: string, more: object = {}) {
  const large = await largeRepository(t);
  const response = expectStatus(await grep(t, large.name, { query: { pattern }, ...more }), 200);
  return { large, response };
}

export const foundInLarge = (pattern: string, more?: object) => (t: RuleContext) => searchLarge(t, pattern, more);

/** Returns the responses for all pages of a search. Stops after 40 pages. `limit`: page size. */
export async function allPages(t: RuleContext, repo: string, body: JsonRecord, limit: number): Promise<ApiResponse[]> {
  const pages: ApiResponse[] = [];
  let cursor: string | undefined;
  do {
    const pagination = { limit, ...defined({ cursor }) };
    const response = expectStatus(await grep(t, repo, { ...body, pagination }), 200);
    pages.push(response);
    cursor = response.boolean('has_more') ? response.string('next_cursor') : undefined;
  } while (cursor !== undefined && pages.length < 40);
  return pages;
}
