import { type ByteString, textOf } from '../git/bytes.js';
import { writeCommit } from '../git/commit.js';
import type { Identity } from '../git/identity.js';
import { COMMIT, type ObjectReader, type Oid } from '../git/object.js';
import { Meter } from '../git/schedule/meter.js';
import type { Quarantine } from '../git/store/quarantine.js';
import { problem } from '../http/problem.js';
import type { Repository } from './repository.js';

/** One commit and the ref that is to point at it. */
export interface CommitPlan {
  readonly ref: ByteString;
  /** Where the ref stands now; all zeros when it does not exist. */
  readonly old: Oid;
  readonly parents: readonly Oid[];
  readonly author: Identity;
  readonly committer: Identity;
  readonly message: string;
  /** Writes what the commit's tree needs, and names the tree. */
  readonly buildTree: (objects: Quarantine) => Oid | Promise<Oid>;
}

/** The outcome as write results show it. */
export interface CommitWritten {
  readonly commit: Oid;
  readonly tree: Oid;
  /** The tip before; all zeros when the ref did not exist. */
  readonly old: Oid;
  /** Bytes of the new objects, headers of their pack entries included, before compression. */
  readonly packBytes: number;
}

/**
 * Writes one commit and moves a ref to it, inside `GitRepository.write`. The objects wait in a quarantine
 * and become visible just before the ref moves, with nothing in between; whatever throws earlier leaves no
 * trace. Throws `conflict` when another ref stands in the way of the name.
 */
export async function commitTo(repository: Repository, plan: CommitPlan): Promise<CommitWritten> {
  const { git } = repository;
  const quarantine = git.objects.quarantine();
  try {
    const tree = await plan.buildTree(quarantine);
    const commit = quarantine.write(COMMIT, writeCommit({ ...plan, tree }));
    if (git.refs.get(plan.ref) === undefined && git.refs.conflictWith(plan.ref) !== undefined) {
      throw problem('conflict', `${textOf(plan.ref)} stands in the way of another ref's folder.`);
    }
    const packBytes = bytesOfNew(quarantine, quarantine.base);
    quarantine.publish();
    git.updateRefs([{ name: plan.ref, old: plan.old, new: commit }]);
    await git.history.extend([commit], new Meter({ schedule: git.objects.schedule }));
    return { commit, tree, old: plan.old, packBytes };
  } catch (error) {
    quarantine.discard();
    throw error;
  }
}

/** Size of the objects from number `base` on, as entries of a pack without compression. */
function bytesOfNew(objects: ObjectReader, base: number): number {
  const headerAndTrailer = 32;
  let sum = headerAndTrailer;
  for (let number = base; number < objects.size; number++) {
    const size = objects.sizeOf(number);
    sum += size + (size < 16 ? 1 : 1 + Math.ceil((32 - Math.clz32(size >>> 4)) / 7));
  }
  return sum;
}
