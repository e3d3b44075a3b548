import type { Oid } from '../git/object/object.js';
import { peelToCommit } from '../git/object/tag.js';
import { Meter } from '../git/schedule/meter.js';
import { notOurRef } from './fetch-request.js';
import { type RepositoryView, visibleTips } from './view.js';

/**
 * Versions 0 and 1 give away what the view shows and what that leads to: the client was told all refs,
 * so a wanted commit that none of them reaches was never meant for it. (Version 2 lets clients want any
 * object; trees and blobs cannot be checked at a fair price and are passed, as by `git rev-list`.)
 */
export async function checkReachable({ repository, prefix }: RepositoryView, wants: Iterable<Oid>): Promise<void> {
  const { refs, objects, history } = repository;
  const tips = new Set(visibleTips(refs, prefix));
  const wantOf = new Map<Oid, Oid>();
  for (const want of wants) {
    const commit = tips.has(want) ? undefined : peelToCommit(objects, want);
    if (commit) wantOf.set(commit, want);
  }
  if (wantOf.size === 0) return;
  const commits = [...tips].map((tip) => peelToCommit(objects, tip)).filter((oid) => oid !== undefined);
  const [lost] = await history.unreached(commits, wantOf.keys(), new Meter({ schedule: objects.schedule }));
  if (lost !== undefined) throw notOurRef(wantOf.get(lost)!);
}
