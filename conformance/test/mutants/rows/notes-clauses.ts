import { type Mutant, type Patch, patched, proxied } from '../mutant.js';
import { NOTES } from '../places.js';
import { changesRequest, isAt } from '../rewrites.js';
import { changesResponsesTo } from '../tokens.js';

interface NoteBody {
  sha?: string;
  note?: unknown;
  action?: string;
  author?: object;
  expected_ref_sha?: string;
}

interface NoteResult {
  sha: string;
  target_ref: string;
  base_commit: string;
  new_ref_sha: string;
  result: { success: boolean; status: string };
}

const CODE = 'api/operations/notes.js';
const ZEROS = '0'.repeat(40);

/** Changes the responses to requests that have appended to a note. */
function changesAppended(change: (written: NoteResult) => void) {
  return changesResponsesTo(
    (request) => isAt(NOTES, request) && /"action":"append"/.test(request.body.toString()),
    (response) => {
      if (response.status !== 201) return;
      const written: NoteResult = JSON.parse(response.body.toString());
      change(written);
      response.body = Buffer.from(JSON.stringify(written));
    },
  );
}

/** Changes requests that append to a note, before the server reads them. */
function changesAppend(change: (body: NoteBody) => void) {
  return changesRequest<NoteBody>(NOTES, (body) => {
    if (body.action === 'append') change(body);
  });
}

/** Makes the server read the notes ref before it waits for other writers. `ctx.early` has the SHA. */
function readsEarly(): Patch {
  return {
    file: CODE,
    find: 'await targetOf(ctx, body)',
    replace: `await targetOf(ctx, body).then(async (target) => {
      ctx.early = git.refs.get(ref) ?? ZERO_OID;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return target;
    })`,
  };
}

/** Replaces each character outside the Basic Multilingual Plane with a question mark. */
function withoutEmoji(note: unknown): unknown {
  return typeof note === 'string' ? note.replace(/[\u{10000}-\u{10ffff}]/gu, '?') : note;
}

export const rows: readonly Mutant[] = [
  proxied(
    'note-appends-to-main-where-there-is-no-sha',
    'note.sha.required#append',
    'appends to the note of the tip of main if a request to append has no sha',
    changesAppend((body) => {
      body.sha ??= 'main';
    }),
  ),
  proxied(
    'note-appends-nothing-where-there-is-no-text',
    'note.note.required#append',
    'appends an empty line if a request to append has no note',
    changesAppend((body) => {
      body.note ??= '\n';
    }),
  ),
  proxied(
    'note-adds-to-the-tip-of-main',
    'note.action.add#older-commit',
    'adds the note to the tip of main, whatever sha names',
    changesRequest<NoteBody>(NOTES, (body) => {
      if (body.action === 'add' && body.sha !== undefined) body.sha = 'main';
    }),
  ),
  patched('note-forgets-the-other-notes', 'note.action.add#siblings', 'removes all other notes when it adds one', {
    file: CODE,
    find: 'tree: setNote(objects, tree, target,',
    replace: "tree: setNote(objects, action === 'add' ? EMPTY_TREE_OID : tree, target,",
  }),
  patched(
    'note-forgets-the-other-notes-when-it-appends',
    'note.action.append.existing#siblings',
    'removes all other notes when it appends to one',
    {
      file: CODE,
      find: 'tree: setNote(objects, tree, target,',
      replace: "tree: setNote(objects, action === 'append' ? EMPTY_TREE_OID : tree, target,",
    },
  ),
  patched(
    'note-adds-to-a-note-made-by-append',
    'note.action.append.creates#exists-then',
    'replaces a note that was created by append when one is added',
    {
      file: CODE,
      find: "if (action === 'add' && existing !== undefined)",
      replace: `const made = (ctx.world.appended ??= new Set());
        if (action === 'append' && existing === undefined) made.add(target);
        if (action === 'add' && existing !== undefined && !made.has(target))`,
    },
  ),
  proxied(
    'note-appends-to-the-tip-of-main',
    'note.action.append.creates#older-commit',
    'appends to the note of the tip of main, whatever sha names',
    changesAppend((body) => {
      if (body.sha !== undefined) body.sha = 'main';
    }),
  ),
  proxied(
    'note-ignores-the-author-who-appends',
    'note.author.used#append',
    'does not look at author in a request to append',
    changesAppend((body) => {
      delete body.author;
    }),
  ),
  proxied(
    'note-expects-zeros-when-it-appends',
    'note.expected.match#append',
    'refuses each expected_ref_sha in a request to append',
    changesAppend((body) => {
      if (body.expected_ref_sha !== undefined) body.expected_ref_sha = '1'.repeat(40);
    }),
  ),
  patched(
    'note-takes-any-earlier-ref-as-expected',
    'note.expected.mismatch#stale',
    'accepts an expected_ref_sha that was the notes ref earlier',
    {
      file: CODE,
      find: 'expected !== undefined && expected !== old',
      replace: `expected !== undefined && expected !== old && !(
        old !== ZERO_OID && isCommit(git.objects, expected) && readCommit(git.objects, old).parents.includes(expected))`,
    },
  ),
  proxied(
    'note-takes-zeros-for-no-expectation',
    'note.expected.mismatch#zeros',
    'ignores an expected_ref_sha of 40 zeros',
    changesRequest<NoteBody>(NOTES, (body) => {
      if (body.expected_ref_sha === ZEROS) delete body.expected_ref_sha;
    }),
  ),
  proxied(
    'note-ignores-the-expected-ref-when-it-appends',
    'note.expected.mismatch#append',
    'does not look at expected_ref_sha in a request to append',
    changesAppend((body) => {
      delete body.expected_ref_sha;
    }),
  ),
  patched(
    'note-expects-nothing-of-the-first-note',
    'note.expected.mismatch#no-ref',
    'ignores expected_ref_sha if there is no notes ref',
    {
      file: CODE,
      find: 'expected !== undefined && expected !== old',
      replace: 'expected !== undefined && old !== ZERO_OID && expected !== old',
    },
  ),
  proxied(
    'note-names-its-own-commit-when-it-appends',
    'note.result.sha#append',
    'shows the commit of the notes as the one whose note was appended to',
    changesAppended((written) => {
      written.sha = written.new_ref_sha;
    }),
  ),
  patched('note-names-the-tip-of-main', 'note.result.sha#older-commit', 'shows the tip of main in sha', {
    file: CODE,
    find: 'return json(status, showNote(target,',
    replace: "return json(status, showNote(git.refs.get('refs/heads/main') ?? target,",
  }),
  proxied(
    'note-shortens-its-ref-when-it-appends',
    'note.result.target_ref#append',
    'leaves refs/notes/ out of target_ref in the response to a request to append',
    changesAppended((written) => {
      written.target_ref = 'commits';
    }),
  ),
  proxied(
    'note-forgets-the-base-when-it-appends',
    'note.result.base_commit#append',
    'shows zeros as base_commit in the response to a request to append',
    changesAppended((written) => {
      written.base_commit = ZEROS;
    }),
  ),
  proxied(
    'note-shows-the-base-as-the-result-of-append',
    'note.result.new_ref_sha#append',
    'shows the notes ref before a request to append as the one after it',
    changesAppended((written) => {
      written.new_ref_sha = written.base_commit;
    }),
  ),
  proxied(
    'note-calls-an-append-no-success',
    'note.result.result.success#append',
    'shows success false after a request to append',
    changesAppended((written) => {
      written.result.success = false;
    }),
  ),
  proxied(
    'note-calls-an-append-appended',
    'note.result.result.status#append',
    'shows the status appended after a request to append',
    changesAppended((written) => {
      written.result.status = 'appended';
    }),
  ),
  patched(
    'note-adds-the-same-note-again',
    'note.action.add.exists#same-text',
    'accepts the text of the existing note as a new note',
    {
      file: 'api/operations/notes.js',
      find: "action === 'add' && existing !== undefined",
      replace:
        "action === 'add' && existing !== undefined && readAs(git.objects, existing, BLOB).toString() !== body.note",
    },
  ),
  patched(
    'note-replaces-a-note-for-an-author',
    'note.action.add.exists#author',
    'replaces a note if the request names an author',
    {
      file: 'api/operations/notes.js',
      find: "action === 'add' && existing !== undefined",
      replace: "action === 'add' && existing !== undefined && !body.author",
    },
  ),
  patched(
    'note-replaces-a-note-for-an-expected-ref',
    'note.action.add.exists#guarded',
    'replaces a note if the request has the right expected_ref_sha',
    {
      file: 'api/operations/notes.js',
      find: "action === 'add' && existing !== undefined",
      replace: "action === 'add' && existing !== undefined && !body.expected_ref_sha",
    },
  ),
  patched(
    'note-appends-no-text-twice',
    'note.action.append.existing#repeated',
    'does not append a text that the note contains',
    {
      file: 'api/operations/notes.js',
      find: 'Buffer.concat([before, Buffer.from(gap + note)])',
      replace: 'before.includes(note) ? before : Buffer.concat([before, Buffer.from(gap + note)])',
    },
  ),
  patched(
    'note-adds-to-commits-of-main-only',
    'note.action.add#other-branch',
    'adds no note to a commit that is not part of main',
    {
      file: CODE,
      find: 'const target = await targetOf(ctx, body);',
      replace: `const target = await targetOf(ctx, body);
        let reached = git.refs.get('refs/heads/main');
        while (reached !== undefined && reached !== target) reached = readCommit(git.objects, reached).parents[0];
        if (reached === undefined) throw problem('ref_not_found', 'main does not contain this commit.');`,
    },
  ),
  proxied(
    'note-loses-emoji',
    'note.action.add#emoji',
    'adds a note without the characters outside the Basic Multilingual Plane',
    changesRequest<NoteBody>(NOTES, (body) => {
      if (body.action === 'add') body.note = withoutEmoji(body.note);
    }),
  ),
  proxied(
    'note-escapes-markup',
    'note.action.add#markup',
    'escapes notes for HTML',
    changesRequest<NoteBody>(NOTES, (body) => {
      if (typeof body.note === 'string') body.note = body.note.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    }),
  ),
  proxied(
    'note-appends-no-emoji',
    'note.action.append.creates#emoji',
    'appends a text without the characters outside the Basic Multilingual Plane',
    changesAppend((body) => {
      body.note = withoutEmoji(body.note);
    }),
  ),
  proxied(
    'note-cuts-after-64-kib',
    'note.action.add#long',
    'stores only the first 65,535 bytes of a note',
    changesRequest<NoteBody>(NOTES, (body) => {
      if (typeof body.note === 'string') body.note = Buffer.from(body.note).toString('utf8', 0, 65_535);
    }),
  ),
  patched(
    'note-compares-part-of-the-expected-ref',
    'note.expected.mismatch#last-digit',
    'compares only the first 39 digits of expected_ref_sha',
    {
      file: CODE,
      find: 'expected !== undefined && expected !== old',
      replace: 'expected !== undefined && expected.slice(0, 39) !== old.slice(0, 39)',
    },
  ),
  proxied(
    'note-drops-carriage-returns',
    'note.action.add#line-endings',
    'removes carriage returns from notes',
    changesRequest<NoteBody>(NOTES, (body) => {
      if (typeof body.note === 'string') body.note = body.note.replaceAll('\r', '');
    }),
  ),
  patched('note-loses-one-of-two', 'note.action.add#no-loss', 'reads the notes before it is its turn to write', [
    readsEarly(),
    {
      file: CODE,
      find: 'old === ZERO_OID ? EMPTY_TREE_OID : readCommit(git.objects, old).tree',
      replace: 'ctx.early === ZERO_OID ? EMPTY_TREE_OID : readCommit(git.objects, ctx.early).tree',
    },
  ]),
  patched(
    'note-compares-the-expected-ref-too-early',
    'note.expected.mismatch#concurrent',
    'compares expected_ref_sha before it is its turn to write',
    [
      readsEarly(),
      {
        file: CODE,
        find: 'expected !== undefined && expected !== old',
        replace: 'expected !== undefined && expected !== ctx.early',
      },
    ],
  ),
];
