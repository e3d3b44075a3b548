import { reader } from '../../api/requests.js';
import type { RuleContext } from '../../check/rule-context.js';
import { clone } from '../../git/git-client.js';
import { listRefs } from '../../git/refs.js';

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
