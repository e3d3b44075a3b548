import { commitFiles } from '../../api/commit-pack.js';
import { writeNote } from '../../api/requests.js';
import { expectSame, expectSha, expectSuccess, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { groupRepository, newRepository } from '../../fixtures/repositories.js';
import { defineWritingRules, leftOpen, on, rulesBy } from '../rule.js';

/** Creates a commit and adds a note to it. Returns the response to the note request. */
async function note(t: RuleContext) {
  const { name } = await groupRepository(t);
  const { sha } = await commitFiles(t, name, { 'noted.txt': t.uniqueName() });
  const response = expectSuccess(await writeNote(t, name, { sha, note: 'a note' }));
  return { sha, answer: response };
}

/** Adds a note and expects the response to have a member at this path with this value. */
async function shows(t: RuleContext, value: unknown, ...path: readonly string[]): Promise<void> {
  expectSame((await note(t)).answer.find(...path), value, path.join('.'));
}

export const noteResult = defineWritingRules('Note write result', 'note-result', [
  {
    id: 'note.result.sha',
    says: 'sha is the commit that has the note.',
    check: on(note, async (_t, { sha, answer: response }) =>
      expectSame(response.string('sha'), sha, 'sha must be the commit that the note belongs to'),
    ),
  },
  ...rulesBy(shows, [
    ['note.result.target_ref', 'target_ref is refs/notes/commits.', 'refs/notes/commits', 'target_ref'],
  ]),
  {
    id: 'note.result.base_commit',
    says: 'base_commit is the commit of the notes ref before the write.',
    check: async (t) => {
      const first = (await note(t)).answer.string('new_ref_sha');
      expectSame(
        (await note(t)).answer.string('base_commit'),
        first,
        'base_commit must be the notes ref before the write',
      );
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
    check: on(note, async (t, { answer: response }) => {
      expectSha(response.find('new_ref_sha'), 'new_ref_sha must be a full SHA');
      const next = (await note(t)).answer.string('base_commit');
      expectSame(next, response.string('new_ref_sha'), 'base_commit of the next write must be this new_ref_sha');
    }),
  },
  ...rulesBy(shows, [
    ['note.result.result.success', 'result.success is true after a successful write.', true, 'result', 'success'],
    ['note.result.result.status', 'result.status is ok after a successful write.', 'ok', 'result', 'status'],
  ]),
  {
    id: 'note.result.result.message',
    says: 'result.message may be absent; if present, it is a string.',
    level: 'MAY',
    check: async (t) => {
      const message = (await note(t)).answer.find('result', 'message');
      expectTrue(message === undefined || typeof message === 'string', 'message must be absent or a string', message);
      t.observe('message', message ?? 'absent');
    },
  },
]);
