import { Meter } from '../../schedule/meter.js';
import { runSync } from '../../schedule/steps.js';
import { findCommit } from '../object/tag.js';
import type { ObjectStore } from '../odb/object-store.js';
import { isDeletion, type RefChange } from '../refs/ref-change.js';
import type { Refs } from '../refs/refs.js';
import { type RefStore, RefTransaction } from '../refs/transaction.js';
import type { History } from '../revwalk/history.js';

/** What a repository is part of: it keeps the refs, and is told when they moved. */
export interface RepositoryHost extends RefStore {
  /** Told of refs that moved, after they did. */
  moved?(changes: readonly RefChange[]): void;
  /** Told of what went wrong after a commit: the writer has succeeded, and does not hear of it. */
  failed?(error: unknown): void;
}

export interface TransactOptions {
  /** Throws when the write is not to be: asked when all earlier writers have ended, and again in the step of the commit. */
  readonly check?: () => void;
  /** What a new repository starts with: its refs are as old as it is, and the host is not told of them. */
  readonly startedAt?: number;
}

/**
 * One Git repository: objects, refs, and what is derived from them. Readers take `refs` once and keep
 * it; that pins everything they will see, because objects are never changed or removed under them.
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
   * Runs `task` when every earlier writer has ended, in order of arrival, and commits what it planned once it returns;
   * when it throws, nothing has happened. This is the only way to move a ref.
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
      if (this.objects.isDeep) await this.objects.settle(new Meter({ schedule: this.objects.schedule }));
      const result = await task(transaction);
      if (!transaction.isPrepared) await transaction.prepare();
      const changes = transaction.commit();
      if (options.startedAt === undefined && changes.length > 0) this.#tell(changes);
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
        // The writer's own reason first: it knows best what to do with it.
        check?.();
        host.requireWritable();
      },
    };
  }

  /** In the step of the commit, so that listeners hear of changes in their order. */
  #tell(changes: readonly RefChange[]): void {
    try {
      this.#host.moved?.(changes);
    } catch (error) {
      this.#host.failed?.(error);
    }
  }

  /**
   * After the commit, because positions in the commit graph are numbers of published objects. There is nothing in it to fail:
   * a commit is published only when all it leads to is here, by edges of the right type. And nothing rests on it: what
   * is not extended now is derived when it is asked for.
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

  /** The refs have moved, so what goes wrong from there on is no failure of the writer. */
  async #attempt(task: () => void | Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      this.#host.failed?.(error);
    }
  }
}
