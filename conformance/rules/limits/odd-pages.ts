import { listBranches, listCommits, listRepos, reader, repositoryPath } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectOneOf, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleContent } from '../../fixtures/content.js';
import { historyRepository } from '../../fixtures/history.js';
import { otherRepository } from '../../fixtures/repositories.js';
import { defineRules, leftOpen, on } from '../rule.js';

type Query = Readonly<Record<string, string>>;

/** Returns a function for each documented list that requests the list. The keys are the names in reports. */
function listsOf(t: RuleContext, name: string): Readonly<Record<string, (query: Query) => Promise<ApiResponse>>> {
  return {
    repos: (query) => listRepos(t, query),
    branches: (query) => listBranches(t, name, { query }),
    commits: (query) => listCommits(t, name, query),
  };
}

const ODD_LIMITS = ['0', '-1', 'x', '1.5', '1000000', ' 1', '1e1'];
const ODD_CURSORS = ['x', 'AAAA', '=', '5', '{}', '\u0000', 'x'.repeat(2000)];

/**
 * Permitted statuses for an odd parameter of a list. The service ignores or corrects the parameter, or refuses the
 * request.
 */
const POSSIBLE = [200, 400, 404, 414, 422];

/** Requests each documented list once per value, with the value as `parameter`. */
async function tries(t: RuleContext, name: string, parameter: string, values: readonly string[]): Promise<void> {
  for (const [list, ask] of Object.entries(listsOf(t, name))) {
    const outcomes: string[] = [];
    for (const value of values) {
      const response = await ask({ [parameter]: value });
      outcomes.push(response.outcome);
      expectOneOf(response.status, POSSIBLE, `the list of ${list} must be answered or refused`);
    }
    t.observe(list, outcomes);
  }
}

const shasIn = ({ text }: ApiResponse): string[] => text.match(/\b[0-9a-f]{40}\b/g) ?? [];

export const oddPages = defineRules('Limits', 'odd-pages', [
  leftOpen(
    'limit.list.odd',
    'The specification does not say how each list treats a limit that is zero, negative, too large, or not a number.',
    sampleContent,
    (t, { name }) => tries(t, name, 'limit', ODD_LIMITS),
  ),
  leftOpen(
    'limit.page.odd-cursor',
    'The specification does not say how each list treats a cursor that it never issued.',
    sampleContent,
    (t, { name }) => tries(t, name, 'cursor', ODD_CURSORS),
  ),
  {
    id: 'limit.page.foreign-cursor',
    says: 'A cursor from a list of another repository returns no items of that repository.',
    clauses: {
      commits: 'A cursor from the list of commits of another repository returns no commits of that repository.',
      branches: 'A cursor from the list of branches of another repository returns no branches of that repository.',
      tags: 'A cursor from the list of tags of another repository returns no tags of that repository.',
    },
    check: on(historyRepository, async (t, { name }) => {
      const { name: own, tip } = await otherRepository(t);
      const paths = {
        commits: () => '/api/v1/repos/commits',
        branches: (of: string) => `${repositoryPath(of)}/branches`,
        ...(t.target.companion && { tags: (of: string) => `${repositoryPath(of)}/tags` }),
      };
      for (const [list, pathOf] of Object.entries(paths)) {
        const query = { limit: '1' };
        const first = await t.get(pathOf(name), { as: reader(name), query });
        const cursor = first.string('next_cursor');
        const response = await t.get(pathOf(own), { as: reader(own), query: { ...query, cursor } });
        t.observe(list, response);
        if (response.status !== 200) {
          expectOneOf(response.status, POSSIBLE, `the cursor of another repository, ${list}`);
          continue;
        }
        const foreign = shasIn(response).filter((sha) => sha !== tip);
        expectTrue(foreign.length === 0, `the list of ${list} must have no item of another repository`, foreign);
      }
    }),
  },
]);
