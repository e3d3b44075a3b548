import type { ByteString } from './bytes.js';
import type { History } from './history/history.js';
import { type Oid, ZERO_OID } from './object.js';
import type { Refs } from './refs.js';
import { Meter } from './schedule/meter.js';
import { atOnce, inSlices, PIECE, PIECE_COST, type Steps } from './schedule/steps.js';
import type { ObjectStore } from './store/object-store.js';

/** A place that holds one immutable value. The world keeps it, so that its snapshots include it. */
export interface Cell<T> {
  get(): T;
  set(value: T): void;
}

/** One compare-and-swap: `old` undefined skips the compare, all zeros means "must not exist". */
export interface RefUpdate {
  readonly name: ByteString;
  readonly old?: Oid | undefined;
  /** All zeros deletes. */
  readonly new: Oid;
}

/**
 * `ok`: done. `stale`: the ref does not hold `old`. `blocked`: another ref is a folder of this one or
 * the reverse. `aborted`: another update of the same atomic set failed.
 */
export type RefOutcome = 'ok' | 'stale' | 'blocked' | 'aborted';

export interface UpdateOptions {
  readonly atomic?: boolean;
}

/** Ref updates whose outcome is known, and which `apply` carries out. */
export interface PreparedUpdate {
  readonly outcomes: readonly RefOutcome[];
  readonly apply: () => void;
}

/** A ref that moved: all zeros stand for "did not exist" and "exists no more". */
export interface RefChange {
  readonly name: ByteString;
  readonly before: Oid;
  readonly after: Oid;
}

/**
 * One Git repository: objects, refs, and what is derived from them. Readers take `refs` once and keep
 * it; that pins everything they will see, because objects are never changed or removed under them.
 */
export class GitRepository {
  #writers: Promise<unknown> = Promise.resolve();

  constructor(
    readonly objects: ObjectStore,
    readonly history: History,
    private readonly cell: Cell<Refs>,
    private readonly now: () => number,
    private readonly moved: (changes: readonly RefChange[]) => void = () => {},
  ) {}

  get refs(): Refs {
    return this.cell.get();
  }

  /** Replaces the refs as a whole (HEAD included). Only inside `write`. */
  setRefs(refs: Refs): void {
    this.cell.set(refs);
  }

  /** Runs `task` when every earlier writer has ended: one writer at a time, in order of arrival. */
  write<T>(task: () => T | Promise<T>): Promise<T> {
    const turn = this.#writers.then(task);
    this.#writers = turn.catch(() => undefined);
    return turn;
  }

  /**
   * Moves refs in one synchronous step: no reader sees half of it. With `atomic`, all or none.
   * The objects have to be published before.
   */
  updateRefs(updates: readonly RefUpdate[], options: UpdateOptions = {}): readonly RefOutcome[] {
    const { outcomes, apply } = atOnce(this.#prepare(updates, options));
    apply();
    return outcomes;
  }

  /** As `updateRefs`, up to the step itself, in slices: for thousands of refs. Only inside `write`. */
  prepareRefs(updates: readonly RefUpdate[], options: UpdateOptions = {}): Promise<PreparedUpdate> {
    return inSlices(this.#prepare(updates, options), new Meter({ schedule: this.objects.schedule }));
  }

  *#prepare(updates: readonly RefUpdate[], options: UpdateOptions): Steps<PreparedUpdate> {
    const before = this.refs;
    const draft = before.draft(this.now());
    // Deletions first, so that one push can replace `a` by `a/b`.
    const order = [...updates.keys()].sort(
      (a, b) => Number(updates[b]!.new === ZERO_OID) - Number(updates[a]!.new === ZERO_OID) || a - b,
    );
    const outcomes: RefOutcome[] = new Array(updates.length).fill('ok');
    for (const [count, index] of order.entries()) {
      if (count % PIECE === PIECE - 1) yield PIECE_COST;
      const update = updates[index]!;
      const current = draft.get(update.name) ?? ZERO_OID;
      if (update.old !== undefined && update.old !== current) outcomes[index] = 'stale';
      else if (update.new === ZERO_OID) draft.put(update.name, undefined);
      else if (current === ZERO_OID && draft.conflictWith(update.name) !== undefined) outcomes[index] = 'blocked';
      else draft.put(update.name, update.new);
    }
    if (options.atomic && outcomes.some((outcome) => outcome !== 'ok')) {
      return { outcomes: outcomes.map((outcome) => (outcome === 'ok' ? 'aborted' : outcome)), apply: () => undefined };
    }
    if (!outcomes.includes('ok')) return { outcomes, apply: () => undefined };
    const done = updates.filter((_, index) => outcomes[index] === 'ok');
    return { outcomes, apply: () => this.#apply(before, draft.done(), done) };
  }

  #apply(before: Refs, after: Refs, done: readonly RefUpdate[]): void {
    if (this.refs !== before) throw new Error('refs were moved by somebody whose turn it was not');
    this.cell.set(after);
    const changes = done
      .map(({ name, new: id }) => ({ name, before: before.get(name) ?? ZERO_OID, after: id }))
      .filter((change) => change.before !== change.after);
    if (changes.length > 0) this.moved(changes);
  }
}
