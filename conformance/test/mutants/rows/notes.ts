import { type Mutant, patched, proxied } from '../mutant.js';
import { tokenMutants } from '../operation-tokens.js';
import { NOTES } from '../places.js';
import { changesJson, changesRequest, ignoresMember, setsMember } from '../rewrites.js';

interface NoteBody {
  sha?: string;
  note?: unknown;
  action?: string;
  expected_ref_sha?: string;
}

export const rows: readonly Mutant[] = [
  proxied(
    'note-takes-append-for-add',
    'note.action.append.existing',
    'takes append for add',
    ignoresMember(NOTES, 'action'),
  ),
  proxied(
    'note-says-nothing-of-a-note-that-failed',
    'note.err.body',
    'says nothing of a note that failed',
    changesJson(NOTES, () => ({ message: 'no' }), 409),
  ),
  proxied(
    'note-does-not-tell-what-became-of-it',
    'note.route',
    'does not tell what became of a note',
    setsMember(NOTES, 'result', undefined, 201),
  ),
  patched(
    'note-writes-to-the-repository-noted-before',
    'note.repo-from-claim',
    'writes notes to the repository of the note before',
    {
      file: 'api/operations/notes.js',
      find: 'const { repository, body, world } = ctx;',
      replace:
        'const { body, world } = ctx; const repository = world.notedBefore ?? ctx.repository; world.notedBefore = ctx.repository;',
    },
  ),
  proxied(
    'note-takes-main-for-a-missing-sha',
    'note.sha.required',
    'notes the tip of main where there is no sha',
    changesRequest<NoteBody>(NOTES, (body) => {
      body.sha ??= 'main';
    }),
  ),
  proxied(
    'note-needs-no-text',
    'note.note.required',
    'writes an empty note where there is no text',
    changesRequest<NoteBody>(NOTES, (body) => {
      body.note ??= '\n';
    }),
  ),
  proxied(
    'note-appends-by-default',
    'note.action.default-add',
    'appends where no action is named',
    changesRequest<NoteBody>(NOTES, (body) => {
      body.action ??= 'append';
    }),
  ),
  proxied(
    'note-writes-text-as-json',
    'note.action.add',
    'writes the text as JSON',
    changesRequest<NoteBody>(NOTES, (body) => {
      body.note = JSON.stringify(body.note);
    }),
  ),
  proxied(
    'note-adds-to-a-note',
    'note.action.add.exists',
    'adds to the note that a commit has',
    changesRequest<NoteBody>(NOTES, (body) => {
      if (body.action === 'add') body.action = 'append';
    }),
  ),
  patched('note-writes-what-it-refuses', 'note.action.add.exists', 'refuses a second note and writes it', {
    file: 'api/operations/notes.js',
    find: "return changeNote(ctx, action, note, action === 'remove' ? 200 : Number(ctx.world.variants.notesStatus));",
    replace: `return changeNote(ctx, action, note, 201).catch(async (error) => {
      await changeNote(ctx, 'append', note, 201);
      throw error;
    });`,
  }),
  patched('note-appends-to-notes-only', 'note.action.append.creates', 'appends to nothing but notes', {
    file: 'api/operations/notes.js',
    find: "action === 'remove' && existing === undefined",
    replace: "action !== 'add' && existing === undefined",
  }),
  proxied('note-ignores-the-author', 'note.author.used', 'does not look at author', ignoresMember(NOTES, 'author')),
  proxied(
    'note-expects-another-ref',
    'note.expected.match',
    'compares expected_ref_sha with another tip',
    changesRequest<NoteBody>(NOTES, (body) => {
      const digit = body.expected_ref_sha?.startsWith('0') ? '1' : '0';
      if (body.expected_ref_sha !== undefined) body.expected_ref_sha = digit + body.expected_ref_sha.slice(1);
    }),
  ),
  proxied(
    'note-ignores-the-expected-ref',
    'note.expected.mismatch',
    'does not look at expected_ref_sha',
    ignoresMember(NOTES, 'expected_ref_sha'),
  ),
  patched(
    'note-looks-at-the-expected-ref-too-late',
    'note.expected.mismatch',
    'looks at expected_ref_sha once the note is written',
    [
      {
        file: 'api/operations/notes.js',
        find: 'expected !== undefined && expected !== old',
        replace: '((ctx.world.lateRefusal = expected !== undefined && expected !== old), false)',
      },
      {
        file: 'api/operations/notes.js',
        find: "return changeNote(ctx, action, note, action === 'remove' ? 200 : Number(ctx.world.variants.notesStatus));",
        replace: `return changeNote(ctx, action, note, 201).then((reply) => {
        if (ctx.world.lateRefusal) throw problem('conflict', 'The notes are elsewhere.');
        return reply;
      });`,
      },
    ],
  ),
  ...tokenMutants('note', NOTES, 'git:write', {
    noHeader: 'note.err.401.no-header',
    invalid: 'note.err.401.invalid-jwt',
    scope: 'note.err.scope',
    missingRepo: 'note.err.404.repo',
  }),
];
