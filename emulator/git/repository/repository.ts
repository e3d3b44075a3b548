import { Meter } from '../../schedule/meter.js';
import { runSync } from '../../schedule/steps.js';
import { findCommit } from '../object/tag.js';
import type { ObjectStore } from '../odb/object-store.js';
import { isDeletion, type RefChange } from '../refs/ref-change.js';
import type { Refs } from '../refs/refs.js';
import { type RefStore, RefTransaction } from '../refs/transaction.js';
import type { History } from '../revwalk/history.js';

/** Owner of a repository. It stores the refs and is notified when they move. */
export interface RepositoryHost extends RefStore {
  /** Called after refs have moved. */
  moved?(changes: readonly RefChange[]): void;
  /** Called with an error that occurred after a commit. The writer has succeeded and does not receive it. */
  failed?(error: unknown): void;
}

export interface TransactOptions {
  /** Throws if the write must not be made. Called when all earlier writers have ended, and again during the commit. */
  readonly check?: () => void;
  /**
   * Set for the first refs of a new repository: their creation time, in milliseconds. The host is not notified of them.
   */
  readonly startedAt?: number;
}

/**
 * One Git repository: objects, refs, and data derived from them. A reader takes `refs` once and keeps it as a snapshot,
 * because objects are never changed or removed while it reads.
 */
export class GitRepository {
  #writers: Promise<unknown> = Promise.resolve();
  readonly #host: RepositoryHost;

  constructor(
    readonly objects: ObjectStore,
    readonly history: History,
    host: RepositoryHost,
  ) {
    this.#host = host;
  }

  get refs(): Refs {
    return this.#host.read();
  }

  /**
   * Runs `task` after every earlier writer has ended, in order of arrival, and commits its planned changes when it
   * returns. Changes nothing if `task` throws. This is the only way to move a ref.
   */
  async transact<T>(task: (transaction: RefTransaction) => T | Promise<T>, options: TransactOptions = {}): Promise<T> {
    const writer = this.#writers.then(() => this.#run(task, options));
    this.#writers = writer.catch(() => undefined);
    const { result, changes } = await writer;
    if (changes.length === 0) return result;
    await this.#attempt(() => this.#extendHistory(changes));
    return result;
  }

  async #run<T>(
    task: (transaction: RefTransaction) => T | Promise<T>,
    options: TransactOptions,
  ): Promise<{ result: T; changes: readonly RefChange[] }> {
    const transaction = new RefTransaction(this.#storeFor(options), this.objects);
    try {
      if (this.objects.isDeep) await this.objects.compact(new Meter({ schedule: this.objects.schedule }));
      const result = await task(transaction);
      if (!transaction.isPrepared) await transaction.prepare();
      const changes = transaction.commit();
      if (options.startedAt === undefined && changes.length > 0) this.#notify(changes);
      return { result, changes };
    } finally {
      transaction.abort();
    }
  }

  #storeFor({ check, startedAt }: TransactOptions): RefStore {
    const host = this.#host;
    return {
      read: () => host.read(),
      swap: (refs) => host.swap(refs),
      now: () => startedAt ?? host.now(),
      requireWritable: () => {
        // Runs the writer's own check first, because its error is more specific.
        check?.();
        host.requireWritable();
      },
    };
  }

  /** Notifies the host during the commit, so that it receives changes in their order. */
  #notify(changes: readonly RefChange[]): void {
    try {
      this.#host.moved?.(changes);
    } catch (error) {
      this.#host.failed?.(error);
    }
  }

  /**
   * Extends the commit graph with the new tips. It runs after the commit, because positions in the commit graph are
   * numbers of published objects. It should not fail, because a commit is published only if everything reachable from
   * it is present. If it does fail, nothing depends on it: missing parts of the graph are computed when they are
   * needed.
   */
  async #extendHistory(changes: readonly RefChange[]): Promise<void> {
    const { objects } = this;
    const tips = changes
      .filter((change) => !isDeletion(change))
      .map((change) => runSync(findCommit(objects, change.new)));
    await this.history.extend(
      tips.filter((oid) => oid !== undefined),
      new Meter({ schedule: objects.schedule }),
    );
  }

  /**
   * Reports an error to the host instead of throwing it, because the refs have already moved and the writer has
   * succeeded.
   */
  async #attempt(task: () => void | Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      this.#host.failed?.(error);
    }
  }
}
