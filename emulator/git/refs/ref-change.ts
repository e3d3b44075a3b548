import { type ByteString, textOf } from '../object/bytes.js';
import { type Oid, ZERO_OID } from '../object/object.js';

/** One ref, from one value to another. All zeros stand for "does not exist". */
export interface RefChange {
  readonly name: ByteString;
  /** What the ref has to hold when it changes. */
  readonly old: Oid;
  readonly new: Oid;
}

export function isDeletion(change: Pick<RefChange, 'new'>): boolean {
  return change.new === ZERO_OID;
}

/**
 * Why a ref cannot change. `stale`: it does not hold `old`. `blocked`: a ref that exists is a folder of it or the
 * reverse. `together`: another ref of the same transaction is. `repeated`: the transaction changes it twice.
 * `no-commit`: a branch was to hold something else than a commit.
 */
export type RefFault = 'stale' | 'blocked' | 'together' | 'repeated' | 'no-commit';

/** A change that cannot be made. */
export interface RefConflict {
  readonly fault: RefFault;
  readonly change: RefChange;
  /** What the ref holds; undefined when it does not exist. */
  readonly current: Oid | undefined;
  /** The ref in the way. */
  readonly other: ByteString | undefined;
}

/** Thrown when a transaction that is done as a whole or not at all cannot be done. */
export class RefTransactionFailed extends Error {
  override readonly name = 'RefTransactionFailed';
  constructor(readonly conflict: RefConflict) {
    super(describeConflict(conflict));
  }
}

/** What is in the way, in the words of Git's ref transactions. */
export function describeConflict({ fault, change, current, other }: RefConflict): string {
  const name = textOf(change.name);
  switch (fault) {
    case 'repeated':
      return `multiple updates for ref '${name}' not allowed`;
    case 'no-commit':
      return `cannot update ref '${name}': trying to write non-commit object ${change.new} to branch '${name}'`;
    case 'blocked':
      return `cannot lock ref '${name}': '${textOf(other!)}' exists; cannot create '${name}'`;
    case 'together':
      return `cannot lock ref '${name}': cannot process '${name}' and '${textOf(other!)}' at the same time`;
    case 'stale':
      if (current === undefined) return `cannot lock ref '${name}': unable to resolve reference '${name}'`;
      if (change.old === ZERO_OID) return `cannot lock ref '${name}': reference already exists`;
      return `cannot lock ref '${name}': is at ${current} but expected ${change.old}`;
  }
}
