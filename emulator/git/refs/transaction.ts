import { COST } from '../../schedule/cost.js';
import { Meter } from '../../schedule/meter.js';
import { inSlices, type Steps } from '../../schedule/steps.js';
import type { ByteString } from '../object/bytes.js';
import { isCommit, type Oid, ZERO_OID } from '../object/object.js';
import type { ObjectStore } from '../odb/object-store.js';
import type { Quarantine } from '../odb/quarantine.js';
import { isDeletion, type RefChange, type RefConflict, RefTransactionFailed } from './ref-change.js';
import type { Head, Refs, RefsDraft } from './refs.js';

/** Where a repository keeps its refs, and what its owner says to a change of them. */
export interface RefStore {
  read(): Refs;
  /** Puts refs in the place of those before. Must not throw. */
  swap(refs: Refs): void;
  /** When refs that are created now come into being. */
  now(): number;
  /** Throws when the repository takes no more writes. */
  requireWritable(): void;
}

/** What a deletion frees can be taken in the same transaction: what `git fetch --prune` does one after the other. */
export interface PrepareOptions {
  readonly prune?: boolean;
}

/**
 * All that changes the refs of a repository goes through one of these, in the words of Git's files backend:
 *
 *     update      says what is to change; objects that this needs are written to the quarantine `objects`
 *     prepare     every check: links, types, the value each ref holds, names in each other's way
 *     commit      publishes the objects and swaps the refs, in one synchronous step that has nothing left to fail
 *     abort       leaves no trace
 *
 * The repository opens it when all earlier writers have ended, so no other write moves a ref while it lasts, and
 * commits it when the writer returns. A writer therefore cannot overlook how a change ended.
 */
export class RefTransaction {
  /** The refs as they stand before. */
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

  /** What was published and what is new; the new objects are thrown away unless the transaction is committed. */
  get objects(): Quarantine {
    this.#quarantine ??= this.published.quarantine();
    return this.#quarantine;
  }

  /** Plans a change. */
  update(change: RefChange): void {
    if (this.#next !== undefined) throw new Error('the transaction is prepared already');
    this.#changes.push(change);
  }

  /** Drops all that was planned: the writer goes on without a change. */
  clear(): void {
    this.#changes.length = 0;
  }

  /** Plans where HEAD is to point. */
  updateHead(head: Head): void {
    this.#head = head;
  }

  /** Plans what else is to change in the step of the commit. Must not throw. */
  alsoCommit(change: () => void): void {
    this.#also.push(change);
  }

  /**
   * Makes ready to change all refs or none: throws `RefTransactionFailed` for the first that cannot, and
   * `MissingObject` where a ref would lead to what is not here.
   */
  async prepare(options: PrepareOptions = {}): Promise<void> {
    await this.#checkObjects(this.#changes);
    const conflict = await inSlices(this.#stage(options), this.#meter());
    if (conflict !== undefined) throw new RefTransactionFailed(conflict);
  }

  /**
   * Makes ready to change each ref on its own, deletions first, so that `a` can give way to `a/b`. Says of each
   * change why it will not be made.
   */
  async prepareEach(): Promise<readonly (RefConflict | undefined)[]> {
    await this.#checkObjects(this.#changes);
    return inSlices(this.#stageEach(), this.#meter());
  }

  /** Throws the new objects away. Does nothing once the transaction is committed. */
  abort(): void {
    this.#isOpen = false;
    this.#quarantine?.discard();
  }

  get isPrepared(): boolean {
    return this.#next !== undefined;
  }

  /** Publishes and swaps, in one step for all readers, and returns what moved. What can fail is asked before. */
  commit(): readonly RefChange[] {
    if (!this.#isOpen || this.#next === undefined) throw new Error('the transaction is over, or not prepared');
    const next = this.#head === undefined ? this.#next : this.#next.withHead(this.#head);
    // While the writer worked, the repository may have been deleted.
    this.store.requireWritable();
    if (this.store.read() !== this.refs) throw new Error('refs were moved outside a transaction');
    this.#isOpen = false;
    // Deletions need none of the objects, and may be all that is left.
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

  /** Every new value is an object with all it leads to, by links of the right type. */
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

  /** As Git: every change is compared with the refs as they stand, not with what the changes before it leave. */
  *#stage({ prune = false }: PrepareOptions): Steps<RefConflict | undefined> {
    const changes = this.#changes;
    const seen = new Set<ByteString>();
    for (const change of changes) {
      if (seen.has(change.name)) return this.#conflict('repeated', change);
      seen.add(change.name);
    }
    const draft = this.refs.draft(this.store.now());
    // Deletions first, all of them: a draft with a ref gone and its folder taken is what the end looks like.
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
    fault: RefConflict['fault'],
    change: RefChange,
    current: Oid | undefined = this.refs.get(change.name),
    other?: ByteString,
  ): RefConflict {
    return { fault, change, current, other };
  }
}

/** A branch of the repository or of a namespace in it (gitnamespaces). */
function isBranch(name: ByteString): boolean {
  return /^(?:refs\/namespaces\/[^/]+\/)*refs\/heads\//.test(name);
}

/** Units that a change costs: each folder that its name is in is looked up, and may share its bytes with others. */
function costOf({ name }: RefChange): number {
  return COST.entry + name.split('/').length * name.length * COST.byteFound;
}

function put(draft: RefsDraft, change: RefChange): void {
  draft.put(change.name, isDeletion(change) ? undefined : change.new);
}
