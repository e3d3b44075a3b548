import type { ByteString } from '../git/object/bytes.js';
import { writeCommit } from '../git/object/commit.js';
import type { Identity } from '../git/object/identity.js';
import { COMMIT, type ObjectReader, type Oid } from '../git/object/object.js';
import type { Quarantine } from '../git/odb/quarantine.js';
import type { RefTransaction } from '../git/refs/transaction.js';

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

/** Writes one commit and plans to move a ref to it; both happen when the transaction is committed. */
export async function commitTo(transaction: RefTransaction, plan: CommitPlan): Promise<CommitWritten> {
  const { objects } = transaction;
  const tree = await plan.buildTree(objects);
  const commit = objects.write(COMMIT, writeCommit({ ...plan, tree }));
  transaction.update({ name: plan.ref, old: plan.old, new: commit });
  await transaction.prepare();
  return { commit, tree, old: plan.old, packBytes: bytesOfNew(objects, objects.base) };
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
