import { getCommit, reader, writeNote } from '../../api/requests.js';
import { expectStatus } from '../../check/expect.js';
import { AssertionFailure, Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { clone } from '../../git/git-client.js';
import { listRefs } from '../../git/refs.js';
import { expectKept } from '../kept-text.js';

export const NOTES = 'refs/notes/commits';

/** Returns true if the Git host lists the notes ref (`refs/notes/commits`). The specification does not require that. */
export async function isShown(t: RuleContext, repo: string): Promise<boolean> {
  return (await listRefs(t, repo, reader(repo))).has(NOTES);
}

/**
 * Fetches the notes ref through Git and returns the note of a commit; undefined if none. A note is a blob. Its path is
 * the SHA of the commit, possibly split into folders.
 */
export async function fetchNote(t: RuleContext, repo: string, sha: string): Promise<string | undefined> {
  const { git, tip } = await clone(t, repo, NOTES);
  const path = Object.keys(await git.listTree(tip)).find((one) => one.replaceAll('/', '') === sha);
  return path === undefined ? undefined : (await git.readFile(tip, path)).toString();
}

/**
 * Returns the note of a commit. Reads it through Git if Git shows notes, otherwise through the API route of published
 * clients. Returns undefined if the commit has no note, and `UNREADABLE` if neither way shows notes.
 */
export async function readNote(
  t: RuleContext,
  repo: string,
  sha: string,
): Promise<string | typeof UNREADABLE | undefined> {
  if (await isShown(t, repo)) return fetchNote(t, repo, sha);
  if (!t.target.companion) return UNREADABLE;
  const response = await t.get('/api/v1/repos/notes', { as: reader(repo), query: { sha } });
  if (response.code === 'route_not_found' || response.status === 405) return UNREADABLE;
  return response.status === 404 ? undefined : response.string('note');
}

export const UNREADABLE = Symbol('unreadable');

/**
 * Returns the author of the commit that stores a note. It comes from Git if Git shows the notes ref, otherwise from the
 * API.
 */
export async function authorOf(t: RuleContext, repo: string, sha: string): Promise<object> {
  if (await isShown(t, repo)) {
    const { git, tip } = await clone(t, repo, NOTES);
    const { author } = await git.commit(tip);
    return { name: author.name, email: author.email };
  }
  const response = await getCommit(t, repo, sha);
  if (response.status === 404) throw new Skip('neither Git nor the API shows the commits of notes');
  return { name: response.string('commit', 'author_name'), email: response.string('commit', 'author_email') };
}

/**
 * Returns the note of a commit. Throws `AssertionFailure` if the commit has no note. Skips the rule if the target does
 * not show notes at all.
 */
export async function mustReadNote(t: RuleContext, repo: string, sha: string): Promise<string> {
  const note = await readNote(t, repo, sha);
  if (note === UNREADABLE) throw new Skip('Git does not show the notes, and no documented route reads them');
  if (note === undefined) throw new AssertionFailure('the commit must have a note', 'a note', 'none');
  return note;
}

/**
 * Expects a commit to have this note. If the target does not show notes at all, expects instead that it refuses to add
 * another note to the commit.
 */
export async function expectNote(t: RuleContext, repo: string, sha: string, text: string): Promise<void> {
  const note = await readNote(t, repo, sha);
  if (note !== UNREADABLE) return expectKept(note ?? 'no note', text, 'the note must be stored');
  t.observe('seen', 'only as a conflict: nothing shows notes');
  expectStatus(await writeNote(t, repo, { sha, note: 'another' }), 409);
}
