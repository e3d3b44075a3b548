import { COMMIT, type ObjectReader, type Oid } from '../git/object.js';
import type { GitRepository } from '../git/repository.js';
import { peelToCommit } from '../git/tag.js';
import { notOurRef } from './fetch-request.js';
import { type RepositoryView, visibleTips } from './view.js';

/**
 * Versions 0 and 1 give away what the view shows and what that leads to: the client was told all refs,
 * so a wanted commit that none of them reaches was never meant for it. (Version 2 lets clients want any
 * object; trees and blobs cannot be checked at a fair price and are passed, as by `git rev-list`.)
 */
export function checkReachable({ repository, prefix }: RepositoryView, wants: Iterable<Oid>): void {
  const { refs, objects } = repository;
  const tips = new Set(visibleTips(refs, prefix));
  const wantOf = new Map<Oid, Oid>();
  for (const want of wants) {
    const commit = tips.has(want) ? undefined : peelToCommit(objects, want);
    if (commit) wantOf.set(commit, want);
  }
  if (wantOf.size === 0) return;
  const commits = [...tips].map((tip) => peelToCommit(objects, tip)).filter((oid) => oid !== undefined);
  for (const commit of unreached(repository, commits, wantOf.keys())) throw notOurRef(wantOf.get(commit)!);
}

/** Those of the `sought` commits that no commit of `tips` is or descends from. One walk for all. */
function unreached({ history }: GitRepository, tips: Iterable<Oid>, sought: Iterable<Oid>): Set<Oid> {
  const left = new Set(sought);
  const seen = new Set<Oid>();
  const pending = [...tips];
  for (let oid = pending.pop(); oid !== undefined && left.size > 0; oid = pending.pop()) {
    if (seen.has(oid)) continue;
    seen.add(oid);
    left.delete(oid);
    for (const parent of history.commit(oid).parents) if (!seen.has(parent)) pending.push(parent);
  }
  return left;
}

/** Whether the object is there and a commit. */
export function isCommit(objects: ObjectReader, oid: Oid): boolean {
  const number = objects.find(oid);
  return number >= 0 && objects.typeOf(number) === COMMIT;
}
