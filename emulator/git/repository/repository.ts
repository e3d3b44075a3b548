import { Meter } from '../../schedule/meter.js';
import { runYielding } from '../../schedule/steps.js';
import { findCommits } from '../object/tag.js';
import type { ObjectStore } from '../odb/object-store.js';
import { isDeletion, type RefChange } from '../refs/ref-change.js';
import type { Refs } from '../refs/refs.js';
import { type RefStore, RefTransaction } from '../refs/transaction.js';
import type { History } from '../revwalk/history.js';

/** Owner of a `GitRepository`. It is the part of the server that stores the refs and reacts to their changes. */
export interface RepositoryHost extends RefStore {
  /** Called after refs have changed, before the next writer starts. */
  moved?(changes: readonly RefChange[]): void;
  /**
   * Called with an error that occurred after the refs had changed. The writer does not receive the error, because its
   * write has succeeded.
   */
  failed?(error: unknown): void;
}

export interface TransactOptions {
  /**
   * Throws if the write must not be made, for example because the repository's state forbids it. It is called after all
   * earlier writers have ended, and again immediately before the refs change.
   */
  readonly check?: () => void;
  /**
   * Creation time of the refs in milliseconds. Set only for the first refs of a new repository; the host is not
   * notified of these.
   */
  readonly startedAt?: number;
}

/**
 * Git repository in memory: objects, refs, and data computed from them. A reader can keep the value of `refs` as a
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
   * Runs `task`, which plans ref changes, and commits these changes when it returns. If `task` throws, nothing changes.
   * Tasks run one after another, in order of arrival. Refs cannot be changed in any other way.
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
        // The check of the writer comes before that of the host, because its error is more specific.
        check?.();
        host.requireWritable();
      },
    };
  }

  /**
   * Notifies the host (owner of the repository) of changed refs. This happens before the next writer starts, so that
   * the host receives the changes in order.
   */
  #notify(changes: readonly RefChange[]): void {
    try {
      this.#host.moved?.(changes);
    } catch (error) {
      this.#host.failed?.(error);
    }
  }

  /**
   * Adds the new commits to the commit graph, which contains parents and generations of commits for fast walks. It is
   * called after the refs have changed, because positions in the graph are numbers of published objects.
   *
   * Failures are not expected, because a commit is published only if everything reachable from it is present. After a
   * failure, missing parts of the graph are computed when needed.
   */
  async #extendHistory(changes: readonly RefChange[]): Promise<void> {
    const { objects } = this;
    const meter = new Meter({ schedule: objects.schedule });
    const tips = changes.filter((change) => !isDeletion(change)).map((change) => change.new);
    await this.history.extend(await runYielding(findCommits(objects, tips), meter), meter);
  }

  /**
   * Runs `task`, and reports its error to the host instead of throwing it. The refs have already changed, so the write
   * itself has succeeded.
   */
  async #attempt(task: () => void | Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      this.#host.failed?.(error);
    }
  }
}
