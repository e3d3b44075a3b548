import { type ByteString, textOf } from '../object/bytes.js';
import { type Oid, ZERO_OID } from '../object/object.js';

/**
 * Requested change of one ref from an old object id to a new one. The zero id (40 zeros) stands for a ref that does not
 * exist.
 */
export interface RefChange {
  readonly name: ByteString;
  /** Object id that the ref must have when the change is made. The change is refused if the ref has another id. */
  readonly old: Oid;
  readonly new: Oid;
}

export function isDeletion(change: Pick<RefChange, 'new'>): boolean {
  return change.new === ZERO_OID;
}

/**
 * Reason why a requested change of a ref is refused:
 *
 * - stale: the current value of the ref is not `old`
 * - blocked: an existing ref conflicts with the name, because one of them would be both a file and a folder (`a` and
 *   `a/b`)
 * - together: another ref of the same transaction conflicts with the name in this way
 * - repeated: the transaction changes the ref twice
 * - no-commit: the new value of a branch is not a commit
 */
export type RefIssue = 'stale' | 'blocked' | 'together' | 'repeated' | 'no-commit';

/** Refused change of a ref, with the reason. */
export interface RefConflict {
  readonly issue: RefIssue;
  readonly change: RefChange;
  /** Current object id of the ref; undefined if the ref does not exist. */
  readonly current: Oid | undefined;
  /** Name of the other ref that blocks the change; undefined unless the reason is `blocked` or `together`. */
  readonly other: ByteString | undefined;
}

/**
 * Error thrown if an atomic transaction (all ref changes or none) cannot be committed, because one of its changes is
 * refused.
 */
export class RefTransactionFailed extends Error {
  override readonly name = 'RefTransactionFailed';
  constructor(readonly conflict: RefConflict) {
    super(describeConflict(conflict));
  }
}

/** Returns a description of a refused ref change, worded like Git's own error messages. */
export function describeConflict({ issue, change, current, other }: RefConflict): string {
  const name = textOf(change.name);
  switch (issue) {
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
