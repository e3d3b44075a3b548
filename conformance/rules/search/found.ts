import { grep } from '../../api/requests.js';
import type { Answer } from '../../check/answer.js';
import { expectSame, expectStatus } from '../../check/expect.js';
import { AssertionFailure } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { historyRepository } from '../../fixtures/history.js';
import { largeRepository } from '../../fixtures/large.js';
import type { JsonRecord } from '../../http/exchange.js';
import { defined } from '../../target/json.js';

/** Returns every line of a response, with the path of its file. */
export function linesOf(answer: Answer) {
  return answer.records('matches').flatMap((match) => {
    if (!Array.isArray(match.lines)) throw new AssertionFailure('every match has lines', 'an array', match.lines);
    return (match.lines as JsonRecord[]).map((line) => ({
      path: String(match.path),
      line: line.line_number,
      text: String(line.text).replace(/\n$/, ''),
      type: line.type,
    }));
  });
}

export function matchesOf(answer: Answer) {
  return linesOf(answer).filter(({ type }) => type === 'match');
}

export function textsOf(answer: Answer): string[] {
  return matchesOf(answer).map(({ text }) => text);
}

export function pathsOf(answer: Answer): string[] {
  return [...new Set(matchesOf(answer).map(({ path }) => path))].sort();
}

/** Searches the history, and expects success. */
export async function search(t: RuleContext, pattern: string, more: object = {}) {
  const history = await historyRepository(t);
  const { query = {}, ...rest } = more as { query?: object };
  const answer = expectStatus(await grep(t, history.name, { query: { pattern, ...query }, ...rest }), 200);
  return { history, answer };
}

/** Expects a search of the history to read this commit. */
export async function searchesCommit(
  t: RuleContext,
  commit: 'first' | 'second' | 'third' | 'feature',
  pattern: string,
  more?: object,
): Promise<void> {
  const { history, answer } = await search(t, pattern, more);
  expectSame(answer.string('repo', 'commit'), history[commit].sha, `repo.commit is the ${commit} commit`);
}

/** Returns a function for checks that makes this search. */
export const found = (pattern: string, more?: object) => (t: RuleContext) => search(t, pattern, more);

/** Searches the large repository, and expects success. */
export async function searchLarge(t: RuleContext, pattern: string, more: object = {}) {
  const large = await largeRepository(t);
  const answer = expectStatus(await grep(t, large.name, { query: { pattern }, ...more }), 200);
  return { large, answer };
}

export const foundInLarge = (pattern: string, more?: object) => (t: RuleContext) => searchLarge(t, pattern, more);

/** Returns all pages of a search, at most 40. */
export async function allPages(t: RuleContext, repo: string, body: JsonRecord, limit: number): Promise<Answer[]> {
  const pages: Answer[] = [];
  let cursor: string | undefined;
  do {
    const pagination = { limit, ...defined({ cursor }) };
    const answer = expectStatus(await grep(t, repo, { ...body, pagination }), 200);
    pages.push(answer);
    cursor = answer.boolean('has_more') ? answer.string('next_cursor') : undefined;
  } while (cursor !== undefined && pages.length < 40);
  return pages;
}
