import { isCommit, type Oid, ZERO_OID } from '../git/object/object.js';
import type { Quarantine } from '../git/odb/quarantine.js';
import { isDeletion, type RefChange } from '../git/refs/ref-change.js';
import { isForced, newCommits } from '../git/repository/forced-update.js';
import type { GitRepository } from '../git/repository/repository.js';

/**
 * A ref update before it is made, for whoever has to allow it. Its objects are all there, but not yet
 * published: they can be read here only.
 */
export class ProposedUpdate {
  constructor(
    private readonly repository: GitRepository,
    /** What is published, and what the push brings. */
    readonly objects: Quarantine,
    /** Named as the client writes it: `refs/heads/main`, in a namespace too. */
    readonly change: RefChange,
    readonly options: readonly string[],
  ) {}

  /** Whether commits of the ref would be lost: it is deleted, or its new commit does not descend from the old. */
  get isForced(): boolean {
    const { old, new: next } = this.change;
    if (old === ZERO_OID || old === next) return false;
    // Deleting a branch and creating it elsewhere would be a forced push in two steps.
    if (isDeletion(this.change)) return true;
    // A tag that is moved is lost, wherever it leads to.
    if (!isCommit(this.repository.objects, old) || !isCommit(this.objects, next)) return true;
    return isForced(this.repository, this.objects, this.change);
  }

  /** The commits the push brings for this ref that the repository did not have. */
  newCommits(): Oid[] {
    return newCommits(this.objects, this.change.new).added;
  }
}
