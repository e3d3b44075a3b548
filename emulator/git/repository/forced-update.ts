import { runSync } from '../../schedule/steps.js';
import { commitLinks } from '../object/commit.js';
import { COMMIT, type Oid, ZERO_OID } from '../object/object.js';
import { findCommit } from '../object/tag.js';
import type { Quarantine } from '../odb/quarantine.js';
import { isDeletion, type RefChange } from '../refs/ref-change.js';
import type { GitRepository } from './repository.js';

/**
 * Returns true if a ref change is forced. It is forced if it deletes the ref, or if the new commit does not descend
 * from the old one.
 */
export function isForced(git: GitRepository, objects: Quarantine, change: RefChange): boolean {
  if (change.old === ZERO_OID) return false;
  if (isDeletion(change)) return true;
  const [from, to] = [runSync(findCommit(git.objects, change.old)), runSync(findCommit(objects, change.new))];
  if (from === undefined || to === undefined) return true;
  const { published } = newCommits(objects, to);
  return !published.has(from) && !git.history.reaches(published, from);
}

/**
 * Finds the commits that a push adds. The walk starts at the commit `tip` and follows ancestors that are new in the
 * quarantine (objects of a push that are not visible yet). Returns the ids of the new commits, and of the published
 * commits that are their parents.
 */
export function newCommits(objects: Quarantine, tip: Oid): { added: Oid[]; published: Set<Oid> } {
  const added: Oid[] = [];
  const published = new Set<Oid>();
  const first = objects.find(tip);
  const pending = first >= 0 && objects.typeOf(first) === COMMIT ? [first] : [];
  const seen = new Set(pending);
  for (let number = pending.pop(); number !== undefined; number = pending.pop()) {
    const oid = objects.oidOf(number);
    if (number < objects.base) {
      published.add(oid);
      continue;
    }
    added.push(oid);
    for (const parent of commitLinks(objects.read(number)).parents) {
      const next = objects.find(parent);
      if (seen.has(next)) continue;
      seen.add(next);
      pending.push(next);
    }
  }
  return { added, published };
}
