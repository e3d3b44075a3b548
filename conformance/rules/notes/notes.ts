import { commitFiles } from '../../api/commit-pack.js';
import { ABSENT_SHA, AUTHOR, reader, withOtherEnd, writeNote, ZEROS } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectAbsent, expectMatch, expectSame, expectStatus, expectSuccess, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { groupRepository, newRepository, otherRepository } from '../../fixtures/repositories.js';
import { listRefs } from '../../git/refs.js';
import { expectKept, PADDED } from '../kept-text.js';
import { defineWritingRules, leftOpen, on } from '../rule.js';
import { tokenRules } from '../token-rules.js';
import { expectFailureBody } from '../write-failure.js';
import { authorOf, expectNote, fetchNote, isShown, mustReadNote, NOTES, readNote, UNREADABLE } from './read-note.js';

/** Note with a carriage return, and with a character outside the Basic Multilingual Plane. */
const ODD_NOTE = `${PADDED}\r\n😀  `;
/** Note of about 100 kB. No two lines are equal. */
const LONG_NOTE = Array.from({ length: 2500 }, (_, index) => `line ${index} of a note with many lines, 日本`).join(
  '\n',
);

/**
 * Adds a commit without a note to the group's shared repository. `metadata` has members of the commit-pack request, for
 * example another branch than the default branch.
 */
async function commitWithoutNote(t: RuleContext, metadata: object = {}): Promise<{ name: string; sha: string }> {
  const { name } = await groupRepository(t);
  return { name, sha: (await commitFiles(t, name, { 'bare.txt': t.uniqueName() }, metadata)).sha };
}

async function commitWithNote(
  t: RuleContext,
  note = 'first',
): Promise<{ name: string; sha: string; response: ApiResponse }> {
  const { name, sha } = await commitWithoutNote(t);
  const response = expectSuccess(await writeNote(t, name, { sha, note }));
  return { name, sha, response };
}

/**
 * Expects the notes ref to still have the tip `tip`. If Git does not show the ref, the tip comes from the response to
 * another note write.
 */
async function expectNotesAt(t: RuleContext, repo: string, tip: string): Promise<void> {
  const shown = (await listRefs(t, repo, reader(repo))).get(NOTES);
  if (shown !== undefined) return expectSame(shown, tip, 'the notes must not change');
  const { response } = await commitWithNote(t, 'next');
  expectSame(response.string('base_commit'), tip, 'the notes must not change');
}

/**
 * Adds a note to an older commit, then one to a newer commit on another branch. Expects each commit to have only its
 * own note. Returns early if the target does not show notes.
 */
async function expectOneNote(t: RuleContext): Promise<void> {
  const { name, sha: older } = await commitWithoutNote(t);
  const target_branch = t.uniqueRef('noted');
  const { sha: newer } = await commitWithoutNote(t, { target_branch, base_branch: t.defaultBranch });
  expectSuccess(await writeNote(t, name, { sha: older, action: 'add', note: 'of the older' }));
  const none = await readNote(t, name, newer);
  if (none === UNREADABLE) return;
  expectAbsent(none, 'another commit must not get the note');
  expectSuccess(await writeNote(t, name, { sha: newer, action: 'add', note: 'of the newer' }));
  await expectNote(t, name, newer, 'of the newer');
  await expectNote(t, name, older, 'of the older');
}

/** Sends two requests at the same time. Each adds a note to another commit. `more` adds members to the requests. */
async function raceNotes(t: RuleContext, more: object = {}) {
  const { name, sha: first } = await commitWithoutNote(t);
  const shas = [first, (await commitWithoutNote(t)).sha];
  const responses = await Promise.all(shas.map((sha) => writeNote(t, name, { sha, note: 'raced', ...more })));
  return { name, shas, responses };
}

type Sent = (sha: string) => object | string;

/** Sends each of these note requests. Expects status 400 each time, and that the notes do not change. */
async function refuses(t: RuleContext, ...bodies: readonly Sent[]): Promise<void> {
  const { name, response } = await commitWithNote(t);
  const { sha } = await commitWithoutNote(t);
  for (const make of bodies) {
    const body = make(sha);
    const options = typeof body === 'string' ? { body } : {};
    expectStatus(await writeNote(t, name, typeof body === 'string' ? undefined : body, options), 400);
  }
  await expectNotesAt(t, name, response.string('new_ref_sha'));
}

export const noteRules = defineWritingRules('7. Notes', 'notes', [
  {
    id: 'note.route',
    says: 'POST /api/v1/repos/notes writes a note and answers with the note write result.',
    check: async (t) => void (await commitWithNote(t)).response.record('result'),
  },
  {
    id: 'note.repo-from-claim',
    says: 'The note is written to the repository in the repo claim of the token.',
    check: on(commitWithoutNote, async (t, { name, sha }) => {
      const other = (await otherRepository(t)).name;
      // Only record this response. The specification does not say what happens to a note for a SHA that the repository
      // lacks.
      t.observe('a commit of another repository', await writeNote(t, other, { sha, note: 'astray' }));
      const before = await readNote(t, other, sha);
      expectSuccess(await writeNote(t, name, { sha, note: 'at home' }));
      await expectNote(t, name, sha, 'at home');
      const after = await readNote(t, other, sha);
      expectTrue(after === before, 'the note must not be added to another repository', after);
    }),
  },
  leftOpen(
    'note.status.success',
    'The specification does not say which HTTP status a written note has.',
    commitWithNote,
    async (t, { name, sha, response }) => {
      t.observe('add', response.status);
      t.observe('append', (await writeNote(t, name, { sha, action: 'append', note: 'more' })).status);
      t.tolerate('A24', 'note written', response, ['201', '200']);
    },
  ),
  {
    id: 'note.sha.required',
    says: 'A request without sha is refused with 400.',
    clauses: {
      append: 'A request to append without sha is refused with 400.',
      null: 'A request whose sha is null is refused with 400.',
      empty: 'A request with an empty body is refused with 400.',
      list: 'A request whose body is a list is refused with 400.',
    },
    check: (t) =>
      refuses(
        t,
        () => ({ note: 'x' }),
        () => ({ action: 'append', note: 'x' }),
        () => ({ sha: null, note: 'x' }),
        () => '',
        (sha) => [{ sha, note: 'x' }],
      ),
  },
  leftOpen(
    'note.sha.unknown',
    'The specification does not say how a sha that names no commit, or that is a branch, is answered.',
    commitWithoutNote,
    async (t, { name, sha }) => {
      t.observe('absent', await writeNote(t, name, { sha: ABSENT_SHA, note: 'x' }));
      t.observe('short', await writeNote(t, name, { sha: sha.slice(0, 8), note: 'x' }));
      t.observe('branch', await writeNote(t, name, { sha: t.defaultBranch, action: 'append', note: 'x' }));
    },
  ),
  {
    id: 'note.note.required',
    says: 'A request without note is refused with 400.',
    clauses: {
      append: 'A request to append without note is refused with 400.',
      null: 'A request whose note is null is refused with 400.',
    },
    check: async (t) => {
      await refuses(
        t,
        (sha) => ({ sha }),
        (sha) => ({ sha, action: 'append' }),
        (sha) => ({ sha, note: null }),
      );
      const { name, sha } = await commitWithoutNote(t);
      t.observe('empty text', await writeNote(t, name, { sha, note: '' }));
    },
  },
  {
    id: 'note.err.400.format',
    says: 'A body that is not valid JSON, or that has values of the wrong type, is refused with 400.',
    level: 'SHOULD',
    clauses: {
      json: 'A body that is not valid JSON is refused.',
      sha: 'A sha that is not a string is refused.',
      note: 'A note that is not a string is refused.',
      author: 'An author that is not an object is refused.',
      'expected-ref': 'An expected_ref_sha that is not a string is refused.',
      action: 'An action that is not a string is refused.',
    },
    check: (t) =>
      refuses(
        t,
        () => '{',
        () => ({ sha: 5, note: 'x' }),
        (sha) => ({ sha, note: 5 }),
        (sha) => ({ sha, note: 'x', author: 'Ada' }),
        (sha) => ({ sha, note: 'x', expected_ref_sha: 5 }),
        (sha) => ({ sha, note: 'x', action: 5 }),
      ),
  },
  {
    id: 'note.action.default-add',
    says: 'A request without action adds a note: it is refused with 409 if the commit has a note.',
    check: on(commitWithNote, async (t, { name, sha }) =>
      expectStatus(await writeNote(t, name, { sha, note: 'second' }), 409),
    ),
  },
  {
    id: 'note.action.add',
    says: 'add writes the note of a commit that has no note.',
    clauses: {
      'older-commit': 'A note can be added to a commit that is not the tip of a branch, and only that commit gets it.',
      siblings: 'The notes of other commits stay as they were.',
      'other-branch': 'A note can be added to a commit that is not part of the default branch.',
      emoji: 'A character outside the Basic Multilingual Plane is kept.',
      markup: 'Characters with a meaning in HTML, URLs or templates are kept.',
      'line-endings': 'A carriage return before a newline is kept.',
      long: 'A note of 100 kB, if accepted, is complete.',
      'no-loss': 'Of concurrent requests to add, no accepted note is lost.',
    },
    check: async (t) => {
      await expectOneNote(t);
      for (const note of [ODD_NOTE, LONG_NOTE]) {
        const { name, sha } = await commitWithoutNote(t);
        const response = await writeNote(t, name, { sha, action: 'add', note });
        // The specification states no maximum size of a note.
        if (note === LONG_NOTE && response.status === 413) {
          t.observe('long note', response);
          continue;
        }
        expectSuccess(response);
        expectSame(response.boolean('result', 'success'), true, 'success');
        await expectNote(t, name, sha, note);
      }
      const { name, shas, responses } = await raceNotes(t);
      for (const [at, { status }] of responses.entries())
        if (status < 300) await expectNote(t, name, shas[at] ?? '', 'raced');
    },
  },
  {
    id: 'note.action.add.exists',
    says: 'A request to add is refused with 409 if the commit has a note; the note stays as it was.',
    clauses: {
      'same-text': 'A request to add is also 409 if the note has the same text.',
      author: 'A request to add is also 409 if the request names an author.',
      guarded: 'A request to add is also 409 if its expected_ref_sha is the notes ref.',
    },
    check: async (t) => {
      const { name, sha, response } = await commitWithNote(t, 'kept');
      const guarded = { note: 'lost', expected_ref_sha: response.string('new_ref_sha') };
      for (const more of [{ note: 'lost' }, { note: 'kept' }, { note: 'lost', author: AUTHOR }, guarded])
        expectStatus(await writeNote(t, name, { sha, action: 'add', ...more }), 409);
      await expectNotesAt(t, name, response.string('new_ref_sha'));
      const note = await readNote(t, name, sha);
      if (note !== UNREADABLE) expectSame(note?.trimEnd(), 'kept', 'the note must not change');
    },
  },
  {
    id: 'note.action.append.existing',
    says: 'append adds its text to the end of the existing note.',
    clauses: {
      siblings: 'The notes of other commits stay as they were.',
      repeated: 'A text that the note already contains is added again.',
    },
    check: async (t) => {
      const { name, sha } = await commitWithNote(t, '  beginning');
      expectSuccess(await writeNote(t, name, { sha, action: 'append', note: ' end  ' }));
      const note = (await mustReadNote(t, name, sha)).replace(/\n+$/, '');
      expectTrue(
        note.startsWith('  beginning') && note.endsWith(' end  '),
        'the note must have both texts in order',
        note,
      );
      const { sha: other } = await commitWithNote(t, 'sibling');
      for (let turn = 0; turn < 2; turn++)
        expectSuccess(await writeNote(t, name, { sha, action: 'append', note: 'last' }));
      expectMatch(await mustReadNote(t, name, sha), /last\s*last/, 'the note must have the appended text twice');
      expectKept(await mustReadNote(t, name, other), 'sibling', 'the note of another commit must not change');
    },
  },
  leftOpen(
    'note.action.append.separator',
    'The specification does not say what separates the existing note from the appended text.',
    async (t) => {
      const { name, sha } = await commitWithNote(t, 'A');
      expectSuccess(await writeNote(t, name, { sha, action: 'append', note: 'B' }));
      t.observe('note', await mustReadNote(t, name, sha));
    },
  ),
  {
    id: 'note.action.append.creates',
    says: 'append creates the note if the commit has none.',
    clauses: {
      'exists-then': 'A request to add is refused with 409 for a commit whose note was created by append.',
      'older-commit': 'The note belongs to the commit in sha, also if it is not the tip of a branch.',
      emoji: 'A character outside the Basic Multilingual Plane is kept.',
    },
    check: on(commitWithoutNote, async (t, { name, sha }) => {
      await commitWithoutNote(t);
      expectSuccess(await writeNote(t, name, { sha, action: 'append', note: ODD_NOTE }));
      await expectNote(t, name, sha, ODD_NOTE);
      expectStatus(await writeNote(t, name, { sha, action: 'add', note: 'again' }), 409);
    }),
  },
  {
    id: 'note.action.unknown',
    says: 'An unknown action is refused with 400.',
    level: 'SHOULD',
    check: (t) => refuses(t, (sha) => ({ sha, action: 'replace', note: 'x' })),
  },
  {
    id: 'note.author.used',
    says: 'author becomes the author of the notes commit; a request without author succeeds as well.',
    clauses: { append: 'author becomes the author of the notes commit of a request to append as well.' },
    check: on(commitWithNote, async (t, { name }) => {
      const { sha } = await commitWithoutNote(t);
      const requests = [
        { note: 'signed', author: { name: 'Nina Notes', email: 'nina@example.com' } },
        { note: 'more', author: { name: 'Otto Append', email: 'otto@example.org' }, action: 'append' },
      ];
      for (const request of requests) {
        const written = expectSuccess(await writeNote(t, name, { sha, ...request }));
        expectSame(
          await authorOf(t, name, written.string('new_ref_sha')),
          request.author,
          'the notes commit must have the sent author',
        );
      }
    }),
  },
  {
    id: 'note.expected.match',
    says: 'A request whose expected_ref_sha equals the notes ref succeeds.',
    clauses: { append: 'A request to append whose expected_ref_sha equals the notes ref succeeds.' },
    check: on(commitWithNote, async (t, { name, response }) => {
      const { sha } = await commitWithoutNote(t);
      let expected = response.string('new_ref_sha');
      for (const action of ['add', 'append', 'append']) {
        const request = { sha, action, note: 'x', expected_ref_sha: expected };
        expected = expectSuccess(await writeNote(t, name, request)).string('new_ref_sha');
      }
    }),
  },
  {
    id: 'note.expected.mismatch',
    says: 'An expected_ref_sha that differs from the notes ref is refused with 409; no note changes.',
    clauses: {
      stale: 'An expected_ref_sha that was the notes ref before the last write is refused with 409.',
      zeros: 'An expected_ref_sha of 40 zeros is refused with 409 if the notes ref exists.',
      'last-digit': 'An expected_ref_sha that differs from the notes ref only in its last digit is refused with 409.',
      append: 'A request to append with an expected_ref_sha that differs from the notes ref is refused with 409.',
      'no-ref': 'An expected_ref_sha that names an existing commit is refused with 409 if no notes ref exists.',
      concurrent: 'Of two concurrent requests with the same expected_ref_sha, exactly one succeeds.',
    },
    check: on(commitWithNote, async (t, { name, sha: noted, response }) => {
      const { sha } = await commitWithoutNote(t);
      const stale = response.string('new_ref_sha');
      const next = expectSuccess(await writeNote(t, name, { sha: noted, action: 'append', note: 'next' }));
      const race = await raceNotes(t, { expected_ref_sha: next.string('new_ref_sha') });
      const [winner, loser] = race.responses.sort((a, b) => a.status - b.status);
      const outcomes = [(winner?.status ?? 0) < 300, loser?.status];
      expectSame(outcomes, [true, 409], 'one of two concurrent requests must succeed, and the other must be refused');
      const tip = winner?.string('new_ref_sha') ?? '';
      for (const expected of [ABSENT_SHA, stale, ZEROS]) {
        expectStatus(await writeNote(t, name, { sha, note: 'x', expected_ref_sha: expected }), 409);
        for (const one of [sha, noted]) {
          const request = { sha: one, action: 'append', note: 'x', expected_ref_sha: expected };
          expectStatus(await writeNote(t, name, request), 409);
        }
      }
      expectStatus(await writeNote(t, name, { sha, note: 'x', expected_ref_sha: withOtherEnd(tip) }), 409);
      await expectNotesAt(t, name, tip);
      const fresh = await newRepository(t);
      const request = { sha: fresh.tip, note: 'x', expected_ref_sha: fresh.tip };
      expectStatus(await writeNote(t, fresh.name, request), 409);
    }),
  },
  {
    id: 'note.git-visible',
    says: 'Git can fetch the notes ref.',
    level: 'SHOULD',
    check: async (t) => {
      const { name, sha } = await commitWithNote(t, 'for Git');
      t.observe('advertised', await isShown(t, name));
      expectSame((await fetchNote(t, name, sha))?.trimEnd(), 'for Git', 'Git must read the note that was written');
    },
  },
  ...tokenRules('notes', {
    noHeader: 'note.err.401.no-header',
    invalid: 'note.err.401.invalid-jwt',
    scope: 'note.err.scope',
    missingRepo: 'note.err.404.repo',
  }),
  {
    id: 'note.err.body',
    says: 'A failed note may answer with a note write result.',
    level: 'MAY',
    check: on(commitWithNote, async (t, { name, sha }) => {
      const response = await writeNote(t, name, { sha, note: 'again', author: AUTHOR });
      expectFailureBody(t, 'failed note', response, 'problem');
    }),
  },
]);
