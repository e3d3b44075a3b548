import { getCommit, listCommits } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectMatch, expectSame, expectStatus, expectTime } from '../../check/expect.js';
import { AssertionFailure } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { historyRepository } from '../../fixtures/history.js';
import { mergedRepository } from '../../fixtures/merged.js';
import { defineRules, on, type RuleRow } from '../rule.js';

/**
 * Requests the record of the history's second commit, whose author, committer and both dates differ. Returns the
 * response and the values that the suite wrote.
 */
async function second(t: RuleContext) {
  const history = await historyRepository(t);
  const response = expectStatus(await getCommit(t, history.name, history.second.sha), 200);
  return { response, known: history.second };
}

const PEOPLE = [
  ['author_name', 'author', 'name'],
  ['author_email', 'author', 'email'],
  ['committer_name', 'committer', 'name'],
  ['committer_email', 'committer', 'email'],
] as const;

/** Clauses of the rules about `PEOPLE`, by member. They are checked with the commit `restored` of the merged repository. */
const CLAUSES: Readonly<Partial<Record<(typeof PEOPLE)[number][0], RuleRow['clauses']>>> = {
  author_name: { 'non-ascii': 'A name that is not ASCII is kept, in the record and in the list of commits.' },
  committer_email: { empty: 'An empty email is an empty string, in the record and in the list of commits.' },
};

/** Returns the entries of a commit list. */
function entriesOf(list: ApiResponse): Record<string, unknown>[] {
  const arrays = Object.values(list.record()).filter(Array.isArray);
  if (arrays.length !== 1) throw new AssertionFailure('the list must have one array', 1, arrays.length);
  return arrays.flat();
}

export const commitRecord = defineRules('Commit record', 'commit-record', [
  {
    id: 'commit.record.sha.string',
    says: 'sha is the full SHA of the commit, whatever revision was requested.',
    check: on(historyRepository, async (t, { name, first, third }) => {
      const asked = { [first.sha.slice(0, 10)]: first.sha, [t.defaultBranch]: third.sha, v1: first.sha };
      for (const [revision, sha] of Object.entries(asked)) {
        expectSame(
          (await getCommit(t, name, revision)).string('commit', 'sha'),
          sha,
          `${revision} must resolve to its SHA`,
        );
      }
    }),
  },
  {
    id: 'commit.record.message',
    says: 'message is the full commit message.',
    clauses: {
      long: 'A message of more than 2000 characters is complete, in the record and in the list of commits.',
      markup: 'Characters with a meaning in HTML, URLs or templates are kept.',
    },
    check: on(historyRepository, async (t, { name, first, second }) => {
      const merged = await mergedRepository(t);
      const list = entriesOf(expectStatus(await listCommits(t, merged.name), 200));
      const listed = list.find(({ sha }) => sha === merged.after.sha)?.message;
      expectSame(String(listed).trimEnd(), merged.after.message.trimEnd(), 'message must be complete in the list');
      for (const [repo, known] of [
        [name, first],
        [name, second],
        [merged.name, merged.after],
      ] as const) {
        const message = (await getCommit(t, repo, known.sha)).string('commit', 'message');
        expectSame(
          message.replace(/\n$/, ''),
          known.message.replace(/\n$/, ''),
          'message must be the complete commit message',
        );
        t.observe('trailing newline', message.endsWith('\n'));
      }
    }),
  },
  ...PEOPLE.map(([member, role, part]) => ({
    id: `commit.record.${member}`,
    says: `${member} is the ${part} of the ${role}.`,
    ...(CLAUSES[member] && { clauses: CLAUSES[member] }),
    check: on(second, async (t, { response, known }) => {
      expectSame(response.string('commit', member), known[role][part], `${member} must be the written value`);
      if (CLAUSES[member] === undefined) return;
      const { name, restored } = await mergedRepository(t);
      const record = expectStatus(await getCommit(t, name, restored.sha), 200).record('commit');
      const list = entriesOf(expectStatus(await listCommits(t, name), 200));
      for (const shown of [record, list.find(({ sha }) => sha === restored.sha)])
        expectSame(shown?.[member], restored[role][part], `${member} must be the pushed value`);
    }),
  })),
  {
    id: 'commit.record.date.rfc3339',
    says: 'date is an RFC 3339 timestamp.',
    check: async (t) =>
      expectTime((await second(t)).response.find('commit', 'date'), 'date must be a valid RFC 3339 time'),
  },
  {
    id: 'commit.record.date.author',
    says: 'date is the author date, not the committer date.',
    check: on(second, async (_t, { response, known }) => {
      const seconds = Date.parse(response.string('commit', 'date')) / 1000;
      expectSame(seconds, known.author.timestamp, 'date must be the author date');
    }),
  },
  {
    id: 'commit.record.same-as-list',
    says: 'An entry of the commit list has the same members as this record.',
    check: on(historyRepository, async (t, { name, first, second, third }) => {
      const list = expectStatus(await listCommits(t, name), 200);
      const entries = entriesOf(list);
      const shas = entries.map(({ sha }) => sha);
      expectSame(
        shas,
        [third.sha, second.sha, first.sha],
        'the list must have the commits of the default branch, newest first',
      );
      const record = (await getCommit(t, name, second.sha)).record('commit');
      for (const member of ['sha', 'message', 'date', ...PEOPLE.map(([member]) => member)]) {
        expectSame(entries[1]?.[member], record[member], `${member} must equal that of the record`);
      }
      for (const entry of entries) {
        for (const [member] of PEOPLE) expectMatch(entry[member], /./, `${member} must be a string`);
        expectMatch(entry.sha, /^[0-9a-f]{40}$/, 'sha must be a full SHA');
        expectMatch(entry.message, /./, 'message must be a non-empty string');
        expectTime(entry.date, 'date must be a valid RFC 3339 time');
      }
    }),
  },
]);
