import { ZERO_OID } from './object.js';
import type { GitRepository, RefUpdate } from './repository.js';
import { peelToCommit } from './tag.js';

/** Whether the old tip is lost: a deletion, or a move to something that does not descend from it. */
export function isForced(git: GitRepository, { old = ZERO_OID, new: next }: RefUpdate): boolean {
  if (old === ZERO_OID) return false;
  const [from, to] = [peelToCommit(git.objects, old), next === ZERO_OID ? undefined : peelToCommit(git.objects, next)];
  return from === undefined || to === undefined || !git.history.isAncestor(from, to);
}
