import { indexPack } from '../git/index-pack/index-pack.js';
import { writeCommit } from '../git/object/commit.js';
import type { Identity } from '../git/object/identity.js';
import { COMMIT, type Oid, ZERO_OID } from '../git/object/object.js';
import { findTree } from '../git/object/tag.js';
import type { Quarantine } from '../git/odb/quarantine.js';
import { writePack } from '../git/pack-objects/pack-writer.js';
import { Meter } from '../schedule/meter.js';
import { runSync } from '../schedule/steps.js';
import { branchRef } from './branch-write.js';
import type { Repository } from './repository.js';

/**
 * Copies `commit` of `source`, with its whole history, into the empty repository `target`. The commit becomes the tip
 * of the default branch.
 */
export function copyHistory(source: Repository, target: Repository, commit: Oid): Promise<void> {
  return fill(target, async (quarantine) => {
    await copyObjects(source, quarantine, commit);
    return commit;
  });
}

/**
 * Copies the files of `commit` of `source` into the empty repository `target`. A single new commit contains the files
 * and becomes the tip of the default branch.
 */
export function copyFiles(
  source: Repository,
  target: Repository,
  commit: Oid,
  { message, author }: { message: string; author: Identity },
): Promise<void> {
  return fill(target, async (quarantine) => {
    const tree = runSync(findTree(source.git.objects, commit))!;
    await copyObjects(source, quarantine, tree);
    return quarantine.write(COMMIT, writeCommit({ tree, parents: [], author, committer: author, message }));
  });
}

/**
 * Copies `want`, and all objects reachable from it, into `quarantine` (new objects of `target` that are not visible
 * yet). Copies compressed pack entries, so the cost is close to copying bytes.
 */
export async function copyObjects({ git }: Pick<Repository, 'git'>, quarantine: Quarantine, want: Oid): Promise<void> {
  const plan = await git.history.plan({ wants: [want] }, new Meter({ schedule: git.objects.schedule }));
  await indexPack(quarantine, writePack(git.objects, plan.objects), { thin: false });
}

async function fill(target: Repository, write: (quarantine: Quarantine) => Promise<Oid>): Promise<void> {
  const { git } = target;
  const branch = branchRef(target.defaultBranch!, false);
  await git.transact(
    async (transaction) => {
      const commit = await write(transaction.objects);
      transaction.update({ name: branch, old: ZERO_OID, new: commit });
    },
    { startedAt: target.record.createdAt },
  );
}
