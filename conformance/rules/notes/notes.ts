import { commitFiles } from '../../api/commit-pack.js';
import { ABSENT_SHA, AUTHOR, reader, writeNote } from '../../api/requests.js';
import type { Answer } from '../../check/answer.js';
import { expectRefused, expectSame, expectStatus, expectSuccess, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { groupRepository, otherRepository } from '../../fixtures/repositories.js';
import { createGit } from '../../git/git-client.js';
import { listRefs } from '../../git/refs.js';
import { defineRules } from '../rule.js';
import { tokenRules } from '../token-rules.js';
import { expectFailureBody } from '../write-failure.js';

const NOTES = 'refs/notes/commits';

/** A commit without a note, on the repository of the group. */
async function bare(t: RuleContext): Promise<{ name: string; sha: string }> {
  const { name } = await groupRepository(t);
  return { name, sha: (await commitFiles(t, name, { 'bare.txt': t.uniqueName() })).sha };
}

async function noted(t: RuleContext, note = 'first'): Promise<{ name: string; sha: string; answer: Answer }> {
  const { name, sha } = await bare(t);
  const answer = await writeNote(t, name, { sha, note });
  expectSuccess(answer);
  return { name, sha, answer };
}

/** Where the notes ref stands, as Git sees it. */
async function notesRef(t: RuleContext, repo: string): Promise<string | undefined> {
  return (await listRefs(t, repo, reader(repo))).get(NOTES);
}

/** The note of a commit, read from the tree of the notes ref: one blob named after the commit, perhaps in folders. */
async function readNote(t: RuleContext, repo: string, sha: string): Promise<string | undefined> {
  const git = await createGit(t);
  const tip = await git.fetch(repo, NOTES);
  const path = Object.keys(await git.listTree(tip)).find((one) => one.replaceAll('/', '') === sha);
  return path === undefined ? undefined : (await git.readFile(tip, path)).toString();
}

/** Each of these is 400, and the notes stay. */
async function refuses(t: RuleContext, ...bodies: readonly ((sha: string) => object | string)[]): Promise<void> {
  const { name } = await noted(t);
  const { sha } = await bare(t);
  const before = await notesRef(t, name);
  for (const make of bodies) {
    const body = make(sha);
    const options = typeof body === 'string' ? { body } : {};
    expectStatus(await writeNote(t, name, typeof body === 'string' ? undefined : body, options), 400);
  }
  expectSame(await notesRef(t, name), before, 'the notes stay');
}

export const noteRules = defineRules('7. Notes', 'notes', [
  {
    id: 'note.route',
    says: 'POST /api/v1/repos/notes writes a note and tells what became of it.',
    writes: true,
    check: async (t) => void (await noted(t)).answer.record('result'),
  },
  {
    id: 'note.repo-from-claim',
    says: 'The repository that gets the note is the one the token names.',
    writes: true,
    check: async (t) => {
      const { name, sha } = await bare(t);
      expectRefused(await writeNote(t, (await otherRepository(t)).name, { sha, note: 'astray' }));
      expectSuccess(await writeNote(t, name, { sha, note: 'at home' }));
      expectSame((await readNote(t, name, sha))?.trimEnd(), 'at home', 'the note is in the named one');
    },
  },
  {
    id: 'note.status.success',
    says: 'Which status a written note has is left open.',
    level: 'UNSPECIFIED',
    writes: true,
    check: async (t) => {
      const { name, sha, answer } = await noted(t);
      t.observe('add', answer.status);
      t.observe('append', (await writeNote(t, name, { sha, action: 'append', note: 'more' })).status);
      t.tolerate('A24', 'note written', answer, ['201', '200']);
    },
  },
  {
    id: 'note.sha.required',
    says: 'A note without sha is 400.',
    writes: true,
    check: (t) => refuses(t, () => ({ note: 'x' })),
  },
  {
    id: 'note.sha.unknown',
    says: 'What a sha gives that names no commit, or is a branch, is left open.',
    level: 'UNSPECIFIED',
    writes: true,
    check: async (t) => {
      const { name, sha } = await bare(t);
      t.observe('absent', (await writeNote(t, name, { sha: ABSENT_SHA, note: 'x' })).outcome);
      t.observe('short', (await writeNote(t, name, { sha: sha.slice(0, 8), note: 'x' })).outcome);
      t.observe('branch', (await writeNote(t, name, { sha: 'main', action: 'append', note: 'x' })).outcome);
    },
  },
  {
    id: 'note.note.required',
    says: 'A note without text is 400.',
    writes: true,
    check: async (t) => {
      await refuses(t, (sha) => ({ sha }));
      const { name, sha } = await bare(t);
      t.observe('empty text', (await writeNote(t, name, { sha, note: '' })).outcome);
    },
  },
  {
    id: 'note.err.400.format',
    says: 'A body that is no JSON or has members of another type is 400.',
    level: 'SHOULD',
    writes: true,
    check: (t) =>
      refuses(
        t,
        () => '{',
        () => ({ sha: 5, note: 'x' }),
        (sha) => ({ sha, note: 5 }),
      ),
  },
  {
    id: 'note.action.default-add',
    says: 'An action that is not named is add: a commit with a note is 409.',
    writes: true,
    check: async (t) => {
      const { name, sha } = await noted(t);
      expectStatus(await writeNote(t, name, { sha, note: 'second' }), 409);
    },
  },
  {
    id: 'note.action.add',
    says: 'add writes the note of a commit that has none.',
    writes: true,
    check: async (t) => {
      const { name, sha } = await bare(t);
      const answer = await writeNote(t, name, { sha, action: 'add', note: 'added' });
      expectSuccess(answer);
      expectSame(answer.boolean('result', 'success'), true, 'success');
      expectSame((await readNote(t, name, sha))?.trimEnd(), 'added', 'the note is there');
    },
  },
  {
    id: 'note.action.add.exists',
    says: 'add on a commit that has a note is 409, and the note stays.',
    writes: true,
    check: async (t) => {
      const { name, sha } = await noted(t, 'kept');
      expectStatus(await writeNote(t, name, { sha, action: 'add', note: 'lost' }), 409);
      expectSame((await readNote(t, name, sha))?.trimEnd(), 'kept', 'the note stays');
    },
  },
  {
    id: 'note.action.append.existing',
    says: 'append puts its text behind what is there.',
    writes: true,
    check: async (t) => {
      const { name, sha } = await noted(t, 'beginning');
      expectSuccess(await writeNote(t, name, { sha, action: 'append', note: 'end' }));
      const note = (await readNote(t, name, sha))?.trimEnd() ?? '';
      expectTrue(note.startsWith('beginning') && note.endsWith('end'), 'both texts, in order', note);
    },
  },
  {
    id: 'note.action.append.separator',
    says: 'What stands between the two texts is left open.',
    level: 'UNSPECIFIED',
    writes: true,
    check: async (t) => {
      const { name, sha } = await noted(t, 'A');
      expectSuccess(await writeNote(t, name, { sha, action: 'append', note: 'B' }));
      t.observe('note', (await readNote(t, name, sha)) ?? 'none');
    },
  },
  {
    id: 'note.action.append.creates',
    says: 'append on a commit without a note writes one.',
    writes: true,
    check: async (t) => {
      const { name, sha } = await bare(t);
      expectSuccess(await writeNote(t, name, { sha, action: 'append', note: 'only' }));
      expectSame((await readNote(t, name, sha))?.trimEnd(), 'only', 'the note is there');
    },
  },
  {
    id: 'note.action.unknown',
    says: 'An action that nobody knows is 400.',
    level: 'SHOULD',
    writes: true,
    check: (t) => refuses(t, (sha) => ({ sha, action: 'replace', note: 'x' })),
  },
  {
    id: 'note.author.used',
    says: 'The author given is the author of the notes commit; without one the note is written all the same.',
    writes: true,
    check: async (t) => {
      const { name } = await noted(t);
      const { sha } = await bare(t);
      const author = { name: 'Nina Notes', email: 'nina@example.com' };
      expectSuccess(await writeNote(t, name, { sha, note: 'signed', author }));
      const git = await createGit(t);
      const commit = await git.commit(await git.fetch(name, NOTES));
      expectSame({ name: commit.author.name, email: commit.author.email }, author, 'the author');
    },
  },
  {
    id: 'note.expected.match',
    says: 'The right expected_ref_sha passes.',
    writes: true,
    check: async (t) => {
      const { name, answer } = await noted(t);
      const { sha } = await bare(t);
      expectSuccess(await writeNote(t, name, { sha, note: 'x', expected_ref_sha: answer.string('new_ref_sha') }));
    },
  },
  {
    id: 'note.expected.mismatch',
    says: 'A wrong expected_ref_sha is 409, and the notes stay.',
    writes: true,
    check: async (t) => {
      const { name } = await noted(t);
      const { sha } = await bare(t);
      const before = await notesRef(t, name);
      expectStatus(await writeNote(t, name, { sha, note: 'x', expected_ref_sha: ABSENT_SHA }), 409);
      expectSame(await notesRef(t, name), before, 'the notes stay');
    },
  },
  {
    id: 'note.git-visible',
    says: 'Git can fetch the notes.',
    level: 'SHOULD',
    writes: true,
    check: async (t) => {
      const { name, sha } = await noted(t, 'for Git');
      t.observe('advertised', (await notesRef(t, name)) !== undefined);
      expectSame((await readNote(t, name, sha))?.trimEnd(), 'for Git', 'the note as Git reads it');
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
    says: 'A note that fails may answer with a note result.',
    level: 'MAY',
    writes: true,
    check: async (t) => {
      const { name, sha } = await noted(t);
      const answer = await writeNote(t, name, { sha, note: 'again', author: AUTHOR });
      expectFailureBody(t, 'failed note', answer, 'problem');
    },
  },
]);
