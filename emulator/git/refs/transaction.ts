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
 * Storage of the refs of a repository, with the checks that its owner makes before a change. Implemented by the
 * repository.
 */
export interface RefStore {
  read(): Refs;
  /**
   * Replaces all refs of the repository by `refs`. Must not throw, because `commit` has already published the new
   * objects.
   */
  swap(refs: Refs): void;
  /** Returns the creation time for refs that are created by the transaction, in milliseconds. */
  now(): number;
  /** Throws if the repository does not accept writes, for example because it was deleted. */
  requireWritable(): void;
}

/**
 * Options of `RefTransaction.prepare`. If `prune` is true, a new ref may have a name that conflicts with a ref deleted
 * by the same transaction (`a/b` after `a`). `git fetch --prune` makes such changes one after the other.
 */
export interface PrepareOptions {
  readonly prune?: boolean;
}

/**
 * Transaction that changes the refs of a repository. It is the only way to change them. The operations are those of
 * Git's files backend:
 *
 *     update      plans a change; its new objects are written to the quarantine `objects`
 *     prepare     runs every check: links, types, current values of refs, conflicting names
 *     commit      publishes the objects and swaps the refs, in one synchronous operation that cannot fail
 *     abort       discards the new objects
 *
 * The repository runs one transaction at a time, in the order of arrival, so no other write changes a ref during a
 * transaction. It commits the transaction when the callback of the writer returns.
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
   * Quarantine (new objects that are not yet visible) of this transaction. Reads through it find the published objects
   * too. The new objects are discarded unless the transaction is committed.
   */
  get objects(): Quarantine {
    this.#quarantine ??= this.published.quarantine();
    return this.#quarantine;
  }

  /** Adds a planned ref change to the transaction. `prepare` checks it, and `commit` makes it. */
  update(change: RefChange): void {
    if (this.#next !== undefined) throw new Error('the transaction is prepared already');
    this.#changes.push(change);
  }

  /** Discards all ref changes that were added with `update`. */
  clear(): void {
    this.#changes.length = 0;
  }

  /** Plans a change of HEAD, which `commit` makes. */
  updateHead(head: Head): void {
    this.#head = head;
  }

  /**
   * Registers a function that `commit` calls after the refs have changed, to change other data at the same time.
   * `change` must not throw.
   */
  alsoCommit(change: () => void): void {
    this.#also.push(change);
  }

  /**
   * Checks all planned ref changes, which are then made together or not at all (atomic). Throws `RefTransactionFailed`
   * for the first ref that cannot be changed, and `MissingObject` if an object reachable from a new value is missing.
   */
  async prepare(options: PrepareOptions = {}): Promise<void> {
    await this.#checkObjects(this.#changes);
    const conflict = await runYielding(this.#stage(options), this.#meter());
    if (conflict !== undefined) throw new RefTransactionFailed(conflict);
  }

  /**
   * Checks each planned ref change on its own, so that some can be made although others are refused. Deletions come
   * first, so that the ref `a` can be replaced by `a/b`. Returns for each change the reason why it is refused, or
   * undefined if `commit` will make it.
   */
  async prepareEach(): Promise<readonly (RefConflict | undefined)[]> {
    await this.#checkObjects(this.#changes);
    return runYielding(this.#stageEach(), this.#meter());
  }

  /** Ends the transaction and discards its new objects. Does nothing after `commit`. */
  abort(): void {
    this.#isOpen = false;
    this.#quarantine?.discard();
  }

  get isPrepared(): boolean {
    return this.#next !== undefined;
  }

  /**
   * Publishes the new objects and replaces the refs. All of it is synchronous, so other requests see either no change
   * or all changes. Returns the refs that changed. Everything that can fail was checked by `prepare`.
   */
  commit(): readonly RefChange[] {
    if (!this.#isOpen || this.#next === undefined) throw new Error('the transaction is over, or not prepared');
    const next = this.#head === undefined ? this.#next : this.#next.withHead(this.#head);
    // The repository may have been deleted since the transaction began, so the check is repeated.
    this.store.requireWritable();
    if (this.store.read() !== this.refs) throw new Error('refs were moved outside a transaction');
    this.#isOpen = false;
    // If all remaining changes are deletions, the new objects are not needed and are discarded.
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
   * Checks that the new value of every ref is an existing object, and that all objects reachable from it exist and have
   * the right type. Throws `MissingObject`.
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
   * Returns the first conflict of an atomic transaction, or undefined after the new refs were prepared. As in Git,
   * every change is compared with the refs before the transaction and not with the results of earlier changes.
   */
  *#stage({ prune = false }: PrepareOptions): Steps<RefConflict | undefined> {
    const changes = this.#changes;
    const seen = new Set<ByteString>();
    for (const change of changes) {
      if (seen.has(change.name)) return this.#conflict('repeated', change);
      seen.add(change.name);
    }
    const draft = this.refs.draft(this.store.now());
    // `final` must become the state after the transaction. All deletions are applied first, because another change may
    // reuse a name that a deletion frees.
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

/** Returns true if the ref is a branch of the repository, or of a ref namespace in it (`git help gitnamespaces`). */
function isBranch(name: ByteString): boolean {
  return /^(?:refs\/namespaces\/[^/]+\/)*refs\/heads\//.test(name);
}

/**
 * Returns the cost of checking a ref change in work units (about a microsecond each). Each folder of the name is looked
 * up, and each lookup may compare all bytes of the name.
 */
function costOf({ name }: RefChange): number {
  return COST.entry + name.split('/').length * name.length * COST.byteFound;
}

function put(draft: RefsDraft, change: RefChange): void {
  draft.put(change.name, isDeletion(change) ? undefined : change.new);
}
