import { COST } from '../../schedule/cost.js';
import { Meter } from '../../schedule/meter.js';
import { runYielding, type Steps } from '../../schedule/steps.js';
import type { ByteString } from '../object/bytes.js';
import { isCommit, type Oid, ZERO_OID } from '../object/object.js';
import type { ObjectStore } from '../odb/object-store.js';
import type { Quarantine } from '../odb/quarantine.js';
import { isDeletion, type RefChange, type RefConflict, RefTransactionFailed } from './ref-change.js';
import type { Head, Refs, RefsDraft } from './refs.js';

/**
 * Storage of a repository's refs. It also makes the repository's own checks before a change. The repository implements
 * it.
 */
export interface RefStore {
  read(): Refs;
  /**
   * Replaces all refs of the repository by `refs`. Must not throw, because `commit` has already published the new
   * objects at this point.
   */
  swap(refs: Refs): void;
  /** Returns the time in milliseconds that becomes the creation time of the transaction's new refs. */
  now(): number;
  /** Throws an error if the repository does not accept writes, for example because it was deleted. */
  requireWritable(): void;
}

/**
 * Options of `RefTransaction.prepare`.
 *
 * If `prune` is true, the name of a new ref may conflict with a ref that the transaction deletes (`a/b` after `a`).
 * `git fetch --prune` makes such changes one after the other.
 */
export interface PrepareOptions {
  readonly prune?: boolean;
}

/**
 * Transaction that changes the refs of a repository. There is no other way to change them. The operations are those of
 * Git's files backend:
 *
 *     update      plans a change; its new objects are written to the quarantine `objects`
 *     prepare     runs every check: links, types, current values of refs, conflicting names
 *     commit      publishes the objects and swaps the refs, in one synchronous operation that cannot fail
 *     abort       discards the new objects
 *
 * The repository runs one transaction at a time, in order of arrival. No other write therefore changes a ref during a
 * transaction. The repository commits the transaction when the callback of the writer returns.
 */
export class RefTransaction {
  /** Refs of the repository when the transaction began. */
  readonly refs: Refs;
  readonly #changes: RefChange[] = [];
  readonly #also: (() => void)[] = [];
  #head: Head | undefined;
  #quarantine: Quarantine | undefined;
  #next: Refs | undefined;
  #done: readonly RefChange[] = [];
  #isOpen = true;

  constructor(
    private readonly store: RefStore,
    private readonly published: ObjectStore,
  ) {
    store.requireWritable();
    this.refs = store.read();
  }

  /**
   * Quarantine of this transaction: new objects that are not yet visible. Reads through it also find the published
   * objects. The new objects are discarded unless the transaction is committed.
   */
  get objects(): Quarantine {
    this.#quarantine ??= this.published.quarantine();
    return this.#quarantine;
  }

  /** Adds a ref change to the transaction. The change is checked by `prepare` and made by `commit`. */
  update(change: RefChange): void {
    if (this.#next !== undefined) throw new Error('the transaction is prepared already');
    this.#changes.push(change);
  }

  /** Discards all ref changes that were added with `update`. */
  clear(): void {
    this.#changes.length = 0;
  }

  /** Plans a change of HEAD. The change is made by `commit`. */
  updateHead(head: Head): void {
    this.#head = head;
  }

  /**
   * Registers a function that `commit` calls right after it has changed the refs. Other data can thus be changed
   * together with the refs. `change` must not throw.
   */
  alsoCommit(change: () => void): void {
    this.#also.push(change);
  }

  /**
   * Checks all planned ref changes, which are made together or not at all (atomic). Throws `RefTransactionFailed` for
   * the first ref that cannot be changed. Throws `MissingObject` if an object reachable from a new value is missing.
   */
  async prepare(options: PrepareOptions = {}): Promise<void> {
    await this.#checkObjects(this.#changes);
    const conflict = await runYielding(this.#stage(options), this.#meter());
    if (conflict !== undefined) throw new RefTransactionFailed(conflict);
  }

  /**
   * Checks each planned ref change separately, so that a refused change does not prevent the others. Deletions come
   * first, so that `a/b` can replace the ref `a`. Returns one element for each change: the reason why it is refused, or
   * undefined if `commit` will make it.
   */
  async prepareEach(): Promise<readonly (RefConflict | undefined)[]> {
    await this.#checkObjects(this.#changes);
    return runYielding(this.#stageEach(), this.#meter());
  }

  /** Ends the transaction and discards its new objects. Does nothing if the transaction is already committed. */
  abort(): void {
    this.#isOpen = false;
    this.#quarantine?.discard();
  }

  get isPrepared(): boolean {
    return this.#next !== undefined;
  }

  /**
   * Publishes the new objects, replaces the refs, and returns the changes that were made. All of this is synchronous,
   * so other requests see either no change or all changes. `prepare` has already checked everything that can fail.
   */
  commit(): readonly RefChange[] {
    if (!this.#isOpen || this.#next === undefined) throw new Error('the transaction is over, or not prepared');
    const next = this.#head === undefined ? this.#next : this.#next.withHead(this.#head);
    // This check is repeated, because the repository may have been deleted since the transaction began.
    this.store.requireWritable();
    if (this.store.read() !== this.refs) throw new Error('refs were moved outside a transaction');
    this.#isOpen = false;
    // New objects are not needed and are discarded if all remaining changes are deletions.
    const isPublishing = this.#done.some((change) => !isDeletion(change));
    if (isPublishing) this.#quarantine?.publish();
    else this.#quarantine?.discard();
    if (next !== this.refs) this.store.swap(next);
    for (const change of this.#also) change();
    return this.#done;
  }

  #meter(): Meter {
    return new Meter({ schedule: this.published.schedule });
  }

  /**
   * Checks the new value of each ref. The object and all objects reachable from it must exist and have the right type.
   * Throws `MissingObject` if not.
   */
  async #checkObjects(changes: readonly RefChange[]): Promise<void> {
    const tips = new Set<Oid>();
    for (const change of changes) if (!isDeletion(change)) tips.add(change.new);
    if (tips.size === 0) return;
    await this.objects.checkConnectivity(tips);
    await this.objects.peelTags();
  }

  *#stageEach(): Steps<readonly (RefConflict | undefined)[]> {
    const draft = this.refs.draft(this.store.now());
    const changes = this.#changes;
    const conflicts: (RefConflict | undefined)[] = new Array(changes.length).fill(undefined);
    const entries = [...changes.entries()];
    const deletions = entries.filter(([, change]) => isDeletion(change));
    const others = entries.filter(([, change]) => !isDeletion(change));
    for (const [index, change] of [...deletions, ...others]) {
      yield costOf(change);
      const conflict = this.#conflictOf(change, draft);
      if (conflict === undefined) put(draft, change);
      conflicts[index] = conflict;
    }
    this.#stageDone(
      draft,
      changes.filter((_, index) => conflicts[index] === undefined),
    );
    return conflicts;
  }

  /**
   * Prepares the new refs and returns undefined, or returns the first conflict of an atomic transaction. Each change is
   * compared with the refs before the transaction, not with the results of earlier changes, as in Git.
   */
  *#stage({ prune = false }: PrepareOptions): Steps<RefConflict | undefined> {
    const changes = this.#changes;
    const seen = new Set<ByteString>();
    for (const change of changes) {
      if (seen.has(change.name)) return this.#conflict('repeated', change);
      seen.add(change.name);
    }
    const draft = this.refs.draft(this.store.now());
    // `final` becomes the state after the transaction. Deletions are applied first, because another change may reuse a
    // name that a deletion frees.
    const [deletions, others] = [changes.filter(isDeletion), changes.filter((change) => !isDeletion(change))];
    const final = this.refs.draft(this.store.now());
    for (const change of [...deletions, ...others]) {
      yield COST.entry;
      put(final, change);
    }
    if (prune) {
      for (const change of deletions) {
        yield COST.entry;
        if (this.#conflictOf(change, draft) === undefined) put(draft, change);
      }
    }
    for (const change of changes) {
      yield costOf(change);
      const conflict = this.#conflictOf(change, prune && isDeletion(change) ? this.refs : draft);
      if (conflict !== undefined) return conflict;
      if (isDeletion(change) || draft.get(change.name) !== undefined) continue;
      const other = final.conflictWith(change.name);
      if (other !== undefined) return this.#conflict('together', change, undefined, other);
    }
    this.#stageDone(final, changes);
    return undefined;
  }

  #stageDone(draft: RefsDraft, made: readonly RefChange[]): void {
    this.#done = made.filter((change) => change.old !== change.new);
    this.#next = this.#done.length === 0 ? this.refs : draft.done();
  }

  #conflictOf(change: RefChange, refs: Pick<Refs, 'get' | 'conflictWith'>): RefConflict | undefined {
    const current = refs.get(change.name);
    if (change.old !== (current ?? ZERO_OID)) return this.#conflict('stale', change, current);
    if (isDeletion(change)) return undefined;
    const other = current === undefined ? refs.conflictWith(change.name) : undefined;
    if (other !== undefined) return this.#conflict('blocked', change, current, other);
    return isBranch(change.name) && !isCommit(this.objects, change.new)
      ? this.#conflict('no-commit', change)
      : undefined;
  }

  #conflict(
    issue: RefConflict['issue'],
    change: RefChange,
    current: Oid | undefined = this.refs.get(change.name),
    other?: ByteString,
  ): RefConflict {
    return { issue, change, current, other };
  }
}

/**
 * Returns true if the ref is a branch of the repository itself or of a Git namespace in it (`git help gitnamespaces`).
 */
function isBranch(name: ByteString): boolean {
  return /^(?:refs\/namespaces\/[^/]+\/)*refs\/heads\//.test(name);
}

/**
 * Returns the cost of checking a ref change, in work units of about a microsecond. Each folder of the name is looked
 * up, and each lookup may compare all bytes of the name.
 */
function costOf({ name }: RefChange): number {
  return COST.entry + name.split('/').length * name.length * COST.byteFound;
}

function put(draft: RefsDraft, change: RefChange): void {
  draft.put(change.name, isDeletion(change) ? undefined : change.new);
}
