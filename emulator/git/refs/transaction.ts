import { COST } from '../../schedule/cost.js';
import { Meter } from '../../schedule/meter.js';
import { runYielding, type Steps } from '../../schedule/steps.js';
import type { ByteString } from '../object/bytes.js';
import { isCommit, type Oid, ZERO_OID } from '../object/object.js';
import type { ObjectStore } from '../odb/object-store.js';
import type { Quarantine } from '../odb/quarantine.js';
import { isDeletion, type RefChange, type RefConflict, RefTransactionFailed } from './ref-change.js';
import type { Head, Refs, RefsDraft } from './refs.js';

/** The refs of a repository, and the checks of its owner on changes. */
export interface RefStore {
  read(): Refs;
  /** Replaces the refs. Must not throw. */
  swap(refs: Refs): void;
  /** Returns the creation time of refs that are created now. */
  now(): number;
  /** Throws if the repository accepts no writes. */
  requireWritable(): void;
}

/**
 * `prune`: a ref may reuse a name that a deletion of the same transaction frees. `git fetch --prune` deletes and
 * creates such refs one after the other.
 */
export interface PrepareOptions {
  readonly prune?: boolean;
}

/**
 * Transaction that changes the refs of a repository. Every change of a ref goes through one. The operations are those
 * of Git's files backend:
 *
 *     update      plans a change; its new objects are written to the quarantine `objects`
 *     prepare     runs every check: links, types, current values of refs, conflicting names
 *     commit      publishes the objects and swaps the refs, in one synchronous operation that cannot fail
 *     abort       discards the new objects
 *
 * The repository opens a transaction when all earlier writers have ended, so no other write moves a ref in the
 * meantime. It commits the transaction when the writer returns, so a writer cannot miss the result of a change.
 */
export class RefTransaction {
  /** The refs before the transaction. */
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

  /** The published objects and the new ones. New objects are discarded unless the transaction is committed. */
  get objects(): Quarantine {
    this.#quarantine ??= this.published.quarantine();
    return this.#quarantine;
  }

  /** Plans the change of a ref. */
  update(change: RefChange): void {
    if (this.#next !== undefined) throw new Error('the transaction is prepared already');
    this.#changes.push(change);
  }

  /** Discards all planned changes. */
  clear(): void {
    this.#changes.length = 0;
  }

  /** Plans a change of HEAD. */
  updateHead(head: Head): void {
    this.#head = head;
  }

  /** Plans another change that is made together with the commit. `change` must not throw. */
  alsoCommit(change: () => void): void {
    this.#also.push(change);
  }

  /**
   * Prepares an atomic change: all refs or none. Throws `RefTransactionFailed` for the first ref that cannot be
   * changed, and `MissingObject` if an object that a ref would lead to is missing.
   */
  async prepare(options: PrepareOptions = {}): Promise<void> {
    await this.#checkObjects(this.#changes);
    const conflict = await runYielding(this.#stage(options), this.#meter());
    if (conflict !== undefined) throw new RefTransactionFailed(conflict);
  }

  /**
   * Prepares a change in which each ref succeeds or fails on its own. Deletions come first, so that `a` can be replaced
   * by `a/b`. Returns for each change the reason why it will not be made; undefined if it will be made.
   */
  async prepareEach(): Promise<readonly (RefConflict | undefined)[]> {
    await this.#checkObjects(this.#changes);
    return runYielding(this.#stageEach(), this.#meter());
  }

  /** Discards the new objects. Does nothing once the transaction is committed. */
  abort(): void {
    this.#isOpen = false;
    this.#quarantine?.discard();
  }

  get isPrepared(): boolean {
    return this.#next !== undefined;
  }

  /**
   * Publishes the objects and swaps the refs, synchronously and so atomically for all readers. Returns the refs that
   * moved. Everything that can fail was checked before.
   */
  commit(): readonly RefChange[] {
    if (!this.#isOpen || this.#next === undefined) throw new Error('the transaction is over, or not prepared');
    const next = this.#head === undefined ? this.#next : this.#next.withHead(this.#head);
    // The repository may have been deleted while the writer was working.
    this.store.requireWritable();
    if (this.store.read() !== this.refs) throw new Error('refs were moved outside a transaction');
    this.#isOpen = false;
    // If only deletions are left, no new object is needed.
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

  /** Checks that every new value is an object whose links all lead to existing objects of the right type. */
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
   * Compares every change with the refs before the transaction, not with the results of earlier changes, as Git does.
   */
  *#stage({ prune = false }: PrepareOptions): Steps<RefConflict | undefined> {
    const changes = this.#changes;
    const seen = new Set<ByteString>();
    for (const change of changes) {
      if (seen.has(change.name)) return this.#conflict('repeated', change);
      seen.add(change.name);
    }
    const draft = this.refs.draft(this.store.now());
    // Applies all deletions first, so that `final` is the state after the transaction, even if a change reuses a name
    // that a deletion frees.
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

/** Returns true if the ref is a branch of the repository or of a ref namespace in it (gitnamespaces). */
function isBranch(name: ByteString): boolean {
  return /^(?:refs\/namespaces\/[^/]+\/)*refs\/heads\//.test(name);
}

/**
 * Returns the cost of a change in work units. Each folder of the name is looked up, and the lookup may compare all its
 * bytes.
 */
function costOf({ name }: RefChange): number {
  return COST.entry + name.split('/').length * name.length * COST.byteFound;
}

function put(draft: RefsDraft, change: RefChange): void {
  draft.put(change.name, isDeletion(change) ? undefined : change.new);
}
