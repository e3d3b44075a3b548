import { commitFiles } from '../../api/commit-pack.js';
import { writeNote } from '../../api/requests.js';
import { expectSame, expectSha, expectSuccess, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { groupRepository, newRepository } from '../../fixtures/repositories.js';
import { defineWritingRules, leftOpen, on, rulesBy } from '../rule.js';

/** Creates a commit and adds a note to it. Returns the commit's SHA and the response to the note request. */
async function note(t: RuleContext) {
  const { name } = await groupRepository(t);
  const { sha } = await commitFiles(t, name, { 'noted.txt': t.uniqueName() });
  const response = expectSuccess(await writeNote(t, name, { sha, note: 'a note' }));
  return { sha, response };
}

/**
 * Writes notes in three ways: adds a note, appends to that note, and creates a note by appending to a commit without
 * one. Returns commit and response for each request.
 */
async function notes(t: RuleContext) {
  const { name } = await groupRepository(t);
  const { sha: older } = await commitFiles(t, name, { 'noted.txt': t.uniqueName() });
  const first = await note(t);
  const append = async (sha: string) => ({
    sha,
    response: expectSuccess(await writeNote(t, name, { sha, action: 'append', note: 'more' })),
  });
  return [first, await append(first.sha), await append(older)] as const;
}

/** Writes notes. Expects each response to have this value at this path. */
async function shows(t: RuleContext, value: unknown, ...path: readonly string[]): Promise<void> {
  for (const { response } of await notes(t)) expectSame(response.find(...path), value, path.join('.'));
}

const APPEND = { append: 'The response to a request to append has this member as well.' };

export const noteResult = defineWritingRules('Note write result', 'note-result', [
  {
    id: 'note.result.sha',
    says: 'sha is the commit that has the note.',
    clauses: {
      append: 'sha in the response to a request to append is the commit that has the note.',
      'older-commit': 'sha is the commit in the request, also if it is not the tip of a branch.',
    },
    check: on(notes, async (_t, written) => {
      for (const { sha, response } of written)
        expectSame(response.string('sha'), sha, 'sha must be the commit that the note belongs to');
    }),
  },
  ...rulesBy(
    shows,
    [['note.result.target_ref', 'target_ref is refs/notes/commits.', 'refs/notes/commits', 'target_ref']],
    { clauses: APPEND },
  ),
  {
    id: 'note.result.base_commit',
    says: 'base_commit is the commit of the notes ref before the write.',
    clauses: { append: 'base_commit in the response to a request to append is the notes ref before that request.' },
    check: async (t) => {
      let before = (await note(t)).response.string('new_ref_sha');
      for (const { response } of await notes(t)) {
        expectSame(response.string('base_commit'), before, 'base_commit must be the notes ref before the write');
        before = response.string('new_ref_sha');
      }
    },
  },
  leftOpen(
    'note.result.base_commit.first',
    'The specification does not say what base_commit is for the first note, or how a request can require that no notes ref exists.',
    newRepository,
    async (t, { name, tip }) => {
      const response = await writeNote(t, name, { sha: tip, note: 'first', expected_ref_sha: '0'.repeat(40) });
      t.observe('expecting zeros', response);
      const { name: another, tip: commit } = await newRepository(t);
      const first = await writeNote(t, another, { sha: commit, note: 'first' });
      t.observe('base_commit', first.find('base_commit') ?? 'absent');
    },
  ),
  {
    id: 'note.result.new_ref_sha',
    says: 'new_ref_sha is the commit of the notes ref after the write.',
    clauses: { append: 'new_ref_sha in the response to a request to append is the notes ref after that request.' },
    check: on(notes, async (t, written) => {
      const next = await note(t);
      const following = [...written.slice(1), next];
      for (const [at, { response }] of written.entries()) {
        expectSha(response.find('new_ref_sha'), 'new_ref_sha must be a full SHA');
        const base = following[at]?.response.string('base_commit');
        expectSame(base, response.string('new_ref_sha'), 'base_commit of the next write must be this new_ref_sha');
      }
    }),
  },
  ...rulesBy(
    shows,
    [
      ['note.result.result.success', 'result.success is true after a successful write.', true, 'result', 'success'],
      ['note.result.result.status', 'result.status is ok after a successful write.', 'ok', 'result', 'status'],
    ],
    { clauses: APPEND },
  ),
  {
    id: 'note.result.result.message',
    says: 'result.message may be absent; if present, it is a string.',
    level: 'MAY',
    check: async (t) => {
      const message = (await note(t)).response.find('result', 'message');
      expectTrue(message === undefined || typeof message === 'string', 'message must be absent or a string', message);
      t.observe('message', message ?? 'absent');
    },
  },
]);
