import { z } from 'zod';
import type { Claims } from '../../auth/claims.js';
import { findNote, setNote } from '../../git/notes/note-tree.js';
import { type ByteString, bytesOf, concatBytes, latin1, textOf } from '../../git/object/bytes.js';
import { readCommit } from '../../git/object/commit.js';
import { cleanIdentityPart } from '../../git/object/identity.js';
import { BLOB, EMPTY_TREE_OID, isCommit, type Oid, readAs, ZERO_OID } from '../../git/object/object.js';
import { findTree } from '../../git/object/tag.js';
import type { Quarantine } from '../../git/odb/quarantine.js';
import { isRefName } from '../../git/refs/ref-name.js';
import { problem } from '../../http/problem.js';
import { json, type Reply } from '../../http/reply.js';
import { lazy } from '../../memory/lazy.js';
import { type HandlerContext, operationsOf, routesOfRepository } from '../../operation/operation.js';
import { commitTo, transact } from '../../repositories/branch-write.js';
import { runSync } from '../../schedule/steps.js';
import { type Person, person, readIdentity, sha } from '../fields.js';
import { ofNotesRef } from '../named-git-data.js';
import { openList, pageEnd, pageQuery } from '../paging.js';
import { requireCommitAllowed } from '../policy.js';
import { type RefContext, resolveRef } from '../resolve.js';

const operation = operationsOf('Notes');

const PREFIX = bytesOf('refs/notes/');
const DEFAULT_REF = bytesOf('refs/notes/commits');

/** Messages of the commits that `git notes` creates, one commit per change. The API uses the same messages. */
const SUBJECTS = {
  add: "Notes added by 'git notes add'",
  append: "Notes added by 'git notes append'",
  remove: "Notes removed by 'git notes remove'",
} as const;

type Action = keyof typeof SUBJECTS;

const noteResult = lazy(() =>
  z.object({
    sha: z.string(),
    target_ref: z.string(),
    notes_ref: z.string(),
    base_commit: z.string(),
    new_ref_sha: z.string(),
    result: z.object({ success: z.boolean(), status: z.string(), message: z.string().optional() }),
  }),
);

/**
 * Request members that name the commit and the notes ref. The newer names `object_ref` and `notes_ref` take precedence
 * over the older `sha` and `ref`.
 */
const selection = lazy(() => ({
  sha: z.string().optional(),
  object_ref: z.string().optional(),
  ref: z.string().optional(),
  notes_ref: z.string().optional(),
}));
const guarded = lazy(() => ({
  ...selection(),
  expected_ref_sha: sha().optional(),
  expected_notes_ref_sha: sha().optional(),
  author: person().optional(),
}));

/** Notes ref that a write names, for conditions of faults. */
const NAMES = ofNotesRef((name) => textOf(fullNotesRef(name)), textOf(DEFAULT_REF));

type Selection = z.infer<z.ZodObject<ReturnType<typeof selection>>>;

export const readNote = operation({
  summary: 'Read the note of a commit',
  routes: routesOfRepository('GET', 'notes'),
  query: () => z.object(selection()),
  replies: () => ({ 200: z.object({ sha: z.string(), note: z.string(), ref_sha: z.string() }) }),
  errors: ['ref_not_found', 'not_found'],
  handle: async (ctx) => {
    const { repository, query } = ctx;
    const { objects, refs } = repository.git;
    const ref = notesRefOf(ctx, query);
    const target = await targetOf(ctx, query);
    const tip = refs.get(ref);
    // A notes ref need not point to a commit. As for `git notes show`, it can also point to a tree or to a tag of a
    // tree. A blob contains no notes.
    const tree = tip === undefined ? undefined : runSync(findTree(objects, tip));
    const blob = tree === undefined ? undefined : runSync(findNote(objects, tree, target));
    if (tip === undefined || blob === undefined) throw noteNotFound(target);
    return json(200, { sha: target, note: readAs(objects, blob, BLOB).toString(), ref_sha: tip });
  },
});

export const writeNote = operation({
  summary: 'Add a note to a commit, or append to it',
  routes: routesOfRepository('POST', 'notes'),
  body: () =>
    z.object({
      ...guarded(),
      action: z.enum(['add', 'append', 'remove']).default('add'),
      note: z.string().optional(),
    }),
  names: NAMES,
  replies: () => ({ 201: noteResult() }),
  errors: ['ref_not_found', 'not_found', 'conflict'],
  handle: (ctx) => {
    const { action, note = '' } = ctx.body;
    if (action !== 'remove' && note === '') throw problem('bad_request', 'note is required: the text to store.');
    return changeNote(ctx, action, note, action === 'remove' ? 200 : Number(ctx.world.variants.notesStatus));
  },
});

export const deleteNote = operation({
  summary: 'Remove the note of a commit',
  routes: routesOfRepository('DELETE', 'notes'),
  body: () => z.object({ ...guarded(), action: z.literal('remove').optional() }),
  names: NAMES,
  replies: () => ({ 200: noteResult() }),
  errors: ['ref_not_found', 'not_found', 'conflict'],
  handle: (ctx) => changeNote(ctx, 'remove', '', 200),
});

type NoteBody = z.infer<z.ZodObject<ReturnType<typeof guarded>>>;

/**
 * Changes the note of one commit, and moves the notes ref to a new notes commit with compare-and-swap. `status` is the
 * status of the successful response.
 */
async function changeNote(
  ctx: HandlerContext<unknown, NoteBody>,
  action: Action,
  note: string,
  status: number,
): Promise<Reply> {
  const { repository, body, world } = ctx;
  const { git } = repository;
  const ref = notesRefOf(ctx, body);
  requireCommitAllowed(ctx, ref);
  const author = readIdentity(body.author ?? bearerOf(ctx.claims), 'author', world.state.clock.now());
  const target = await targetOf(ctx, body);
  const expected = body.expected_notes_ref_sha ?? body.expected_ref_sha;
  return transact(repository, async (transaction) => {
    const old = git.refs.get(ref) ?? ZERO_OID;
    const refuse = (detail: string) => problem('conflict', detail, { result: showNote(target, ref, old, '', detail) });
    if (expected !== undefined && expected !== old)
      throw refuse(`${textOf(ref)} is at ${old}, not at the expected ${expected}.`);
    // An existing notes ref must point to a commit, because that commit becomes the parent of the new notes commit.
    if (old !== ZERO_OID && !isCommit(git.objects, old))
      throw refuse(`The notes ref ${textOf(ref)} does not point to a commit, so no note can be added to it.`);
    const tree = old === ZERO_OID ? EMPTY_TREE_OID : readCommit(git.objects, old).tree;
    const existing = runSync(findNote(git.objects, tree, target));
    if (action === 'add' && existing !== undefined)
      throw refuse(`Commit ${target} already has a note. Use the action append, or remove the note first.`);
    if (action === 'remove' && existing === undefined) throw noteNotFound(target);
    const { objects } = transaction;
    const written = await commitTo(transaction, {
      ref,
      old,
      parents: old === ZERO_OID ? [] : [old],
      author,
      committer: author,
      message: `${SUBJECTS[action]}\n`,
      tree: setNote(objects, tree, target, writeText(objects, action, existing, note)),
    });
    return json(status, showNote(target, ref, old, written.commit));
  });
}

/**
 * Returns the author of a note whose request names no author. The name is the subject of the token; the e-mail address
 * contains its issuer.
 */
function bearerOf({ sub, iss }: Claims): Person {
  return { name: cleanIdentityPart(sub.replaceAll('\0', '')) || 'unknown', email: `${iss}@localhost` };
}

/**
 * Writes the new text of a note and returns its blob; undefined if the note is removed. An appended text is separated
 * by a blank line, as in `git notes append`.
 */
function writeText(objects: Quarantine, action: Action, existing: Oid | undefined, note: string): Oid | undefined {
  if (action === 'remove') return undefined;
  if (existing === undefined) return objects.write(BLOB, Buffer.from(note));
  const before = readAs(objects, existing, BLOB);
  const gap = before.length === 0 ? '' : before.at(-1) === 0x0a ? '\n' : '\n\n';
  return objects.write(BLOB, Buffer.concat([before, Buffer.from(gap + note)]));
}

function showNote(
  target: Oid,
  ref: ByteString,
  base: Oid,
  next: Oid | '',
  failure?: string,
): z.infer<ReturnType<typeof noteResult>> {
  const name = textOf(ref);
  return {
    sha: target,
    target_ref: name,
    notes_ref: name,
    base_commit: base,
    new_ref_sha: next,
    result:
      failure === undefined
        ? { success: true, status: 'ok', message: '' }
        : { success: false, status: 'precondition_failed', message: failure },
  };
}

export const listNotesRefs = operation({
  summary: 'List the notes refs',
  routes: routesOfRepository('GET', 'notes/refs'),
  query: () => z.object({ ...pageQuery(), prefix: z.string().optional() }),
  replies: () => ({
    200: z.object({
      refs: z.array(z.object({ cursor: z.string(), ref: z.string(), sha: z.string() })),
      prefix: z.string(),
      ...pageEnd(),
    }),
  }),
  handle: async (ctx) => {
    const { repository, query } = ctx;
    requireCustomRefs(ctx);
    const prefix = query.prefix ? fullNotesRef(query.prefix) : PREFIX;
    const list = openList<ByteString>(ctx, query, ['listNotesRefs', repository.id, prefix]);
    const after = list.position ?? '';
    const following = function* () {
      for (const entry of repository.git.refs.entries(prefix)) yield entry[0] > after ? entry : undefined;
    };
    const { page, end } = await list.take(following(), ([name]) => name);
    const refs = page.map(([name, { oid }]) => ({ cursor: list.cursorAt(name), ref: textOf(name), sha: oid }));
    return json(200, { refs, prefix: textOf(prefix), ...end });
  },
});

async function targetOf(ctx: RefContext, from: Selection): Promise<Oid> {
  const name = from.object_ref ?? from.sha ?? '';
  if (name === '') throw problem('bad_request', 'sha is required: the commit that the note belongs to.');
  return (await resolveRef(ctx, { ref: name })).commit;
}

/**
 * Returns the full name of a notes ref. Example: `reviews`, `notes/reviews` and `refs/notes/reviews` all mean
 * `refs/notes/reviews`.
 */
function fullNotesRef(text: string): ByteString {
  const name = bytesOf(text);
  if (name.startsWith(PREFIX)) return name;
  return name.startsWith('notes/') ? latin1`refs/${name}` : concatBytes(PREFIX, name);
}

function notesRefOf(ctx: Pick<HandlerContext, 'world'>, from: Selection): ByteString {
  const given = from.notes_ref ?? from.ref;
  if (given === undefined || given === '') return DEFAULT_REF;
  const ref = fullNotesRef(given);
  if (!isRefName(ref))
    throw problem('bad_request', `notes_ref ${JSON.stringify(given.slice(0, 100))} is not a valid ref name.`);
  if (ref !== DEFAULT_REF) requireCustomRefs(ctx);
  return ref;
}

function requireCustomRefs({ world }: Pick<HandlerContext, 'world'>): void {
  if (world.variants.customNotesRefs === 'off') throw problem('bad_request', 'custom notes refs are not enabled');
}

function noteNotFound(target: Oid) {
  return problem('not_found', `Commit ${target} has no note.`);
}
