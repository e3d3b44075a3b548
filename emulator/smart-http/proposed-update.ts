import type { ByteString } from '../git/bytes.js';
import { commitLinks } from '../git/commit.js';
import { COMMIT, type ObjectReader, type Oid, ZERO_OID } from '../git/object.js';
import type { GitRepository } from '../git/repository.js';
import type { Quarantine } from '../git/store/object-store.js';
import type { Command } from './push-request.js';
import { isCommit } from './reachability.js';
import type { RepositoryView } from './view.js';

/**
 * A ref update before it is made, for whoever has to allow it. Its objects are all there, but not yet
 * published: they can be read here only.
 */
export class ProposedUpdate {
  /** As the client writes it: `refs/heads/main`, in a namespace too. */
  readonly name: ByteString;
  /** The ref that would be written: with the prefix of the namespace. */
  readonly ref: ByteString;
  readonly old: Oid;
  /** All zeros deletes. */
  readonly new: Oid;
  readonly #repository: GitRepository;
  readonly #quarantine: Quarantine;

  constructor(
    view: RepositoryView,
    quarantine: Quarantine,
    command: Command,
    readonly options: readonly string[],
  ) {
    this.name = command.name;
    this.ref = view.prefix + command.name;
    this.old = command.old;
    this.new = command.new;
    this.#repository = view.repository;
    this.#quarantine = quarantine;
  }

  get objects(): ObjectReader {
    return this.#quarantine;
  }

  /** Whether commits of the ref would be lost: it is deleted, or its new commit does not descend from the old. */
  get isForced(): boolean {
    const { old } = this;
    if (old === ZERO_OID || old === this.new) return false;
    // Deleting a branch and creating it elsewhere would be a forced push in two steps.
    if (this.new === ZERO_OID) return true;
    if (!isCommit(this.#repository.objects, old)) return true;
    const { published } = this.#walk();
    return !published.has(old) && !this.#repository.history.reaches(published, old);
  }

  /** The commits the push brings for this ref that the repository did not have. */
  newCommits(): Oid[] {
    return this.#walk().added;
  }

  /** From the new tip through the new commits, down to the ones that were here. */
  #walk(): { added: Oid[]; published: Set<Oid> } {
    const added: Oid[] = [];
    const published = new Set<Oid>();
    const quarantine = this.#quarantine;
    const tip = quarantine.find(this.new);
    const pending = tip >= 0 && quarantine.typeOf(tip) === COMMIT ? [tip] : [];
    const seen = new Set(pending);
    for (let number = pending.pop(); number !== undefined; number = pending.pop()) {
      const oid = quarantine.oidOf(number);
      if (number < quarantine.base) {
        published.add(oid);
        continue;
      }
      added.push(oid);
      for (const parent of commitLinks(quarantine.read(number)).parents) {
        const next = quarantine.find(parent);
        if (seen.has(next)) continue;
        seen.add(next);
        pending.push(next);
      }
    }
    return { added, published };
  }
}
