import { Meter } from '../../schedule/meter.js';
import { runSync } from '../../schedule/steps.js';
import { findCommit } from '../object/tag.js';
import type { ObjectStore } from '../odb/object-store.js';
import { isDeletion, type RefChange } from '../refs/ref-change.js';
import type { Refs } from '../refs/refs.js';
import { type RefStore, RefTransaction } from '../refs/transaction.js';
import type { History } from '../revwalk/history.js';

/** Owner of a `GitRepository`: the part of the server that stores the refs and reacts when they change. */
export interface RepositoryHost extends RefStore {
  /** Called after refs have changed, before the next writer starts. */
  moved?(changes: readonly RefChange[]): void;
  /**
   * Called with an error that occurred after the refs were changed. The writer has succeeded and does not receive the
   * error.
   */
  failed?(error: unknown): void;
}

export interface TransactOptions {
  /**
   * Throws if the write must not be made, for example because the state of the repository forbids it. Called when all
   * earlier writers have ended, and again immediately before the refs are changed.
   */
  readonly check?: () => void;
  /**
   * Creation time of the refs in milliseconds; set only for the first refs of a new repository. The host is then not
   * notified of these refs.
   */
  readonly startedAt?: number;
}

/**
 * Git repository in memory: objects, refs, and data computed from them. A reader uses the value of `refs` as a
 * snapshot. It stays valid, because objects are never changed or removed.
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
   * Runs `task`, which plans ref changes, and commits the changes when it returns. Changes nothing if it throws. Tasks
   * run one after another, in order of arrival. This is the only way to change a ref.
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
        // The check of the writer is called before that of the host, because its error is more specific.
        check?.();
        host.requireWritable();
      },
    };
  }

  /**
   * Notifies the host (owner of the repository) of changed refs. Called before the next writer starts, so that the host
   * receives changes in their order.
   */
  #notify(changes: readonly RefChange[]): void {
    try {
      this.#host.moved?.(changes);
    } catch (error) {
      this.#host.failed?.(error);
    }
  }

  /**
   * Adds the new commits to the commit graph (parents and generations of commits, kept for fast walks). Called after
   * the refs have changed, because positions in the graph are numbers of published objects.
   *
   * It should not fail, because a commit is published only if everything reachable from it is present. If it fails, the
   * missing parts of the graph are computed when they are needed.
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
   * Runs `task` and reports an error to the host instead of throwing it. The refs have already changed, so the writer
   * has succeeded.
   */
  async #attempt(task: () => void | Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      this.#host.failed?.(error);
    }
  }
}
