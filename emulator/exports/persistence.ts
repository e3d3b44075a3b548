import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as pauseFor } from 'node:timers/promises';
import { bytesOf } from '../git/object/bytes.js';
import { DiskTree, saying } from '../sources/disk-tree.js';
import { MANIFEST } from '../sources/open-source.js';
import type { CurrentWorld } from '../world/current-world.js';
import { releaseRepositories } from '../world/repositories.js';
import type { World } from '../world/world.js';
import { lockFolder } from './folder-lock.js';
import { KeptFolder } from './kept-folder.js';
import { importTree } from './read-state.js';
import { requireOwn, writeError } from './state-directory.js';

/**
 * Pause in milliseconds of real time between the end of a save and the next check for changes. A save contains all
 * changes made before it begins.
 */
export const PAUSE = 100;

/**
 * Limits for back-pressure. The response to a write waits until the write is saved if the running save has taken `LATE`
 * milliseconds of real time, or if memory has grown by `MAX_UNSAVED` bytes since the last save began. Otherwise the
 * next save could take longer than the documents promise.
 */
const LATE = 300;
const MAX_UNSAVED = 8 * 1024 * 1024;

export interface PersistenceOptions {
  readonly folder: string;
  readonly secrets: boolean;
  /** Called with a message for the user when saving the state fails, and when it works again. */
  readonly warn: (sentence: string) => void;
  /** Waits for a number of milliseconds of real time. Rejects when `signal` is aborted. Default: a timer. */
  readonly pause?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Monotonic clock in milliseconds, for the duration of saves. Default: `performance.now`. */
  readonly now?: () => number;
}

const realPause: NonNullable<PersistenceOptions['pause']> = (milliseconds, signal) =>
  pauseFor(milliseconds, undefined, { signal, ref: false });

/**
 * Saves the current world (whole state of the emulator) to a folder that no other process uses. It saves after changes
 * and when the emulator ends. A save contains the state at its beginning.
 *
 * Saves are separated by a pause of `PAUSE`. A change is therefore saved at the latest after the rest of the running
 * save, the pause, and one more save.
 */
export class Persistence {
  /**
   * State values of the last save, as returned by `marksOf`. They are immutable, so comparing references shows if
   * anything has changed.
   */
  #saved: readonly unknown[] = [];
  #world: World | undefined;
  /**
   * Identifies the numbering of the objects in the saved world. Another world gets a new token, because its object
   * numbers may differ.
   */
  #numbering: object = {};
  #hasFailed = false;
  /** True if the folder may contain files that do not belong to a complete save, left by a killed process. */
  #hasLeftovers = false;
  readonly #end = new AbortController();
  /** The running save; if none is running, the last one. */
  #running: Promise<void> = Promise.resolve();
  /** The save that waits for the running one to end; undefined if none is waiting. */
  #next: Promise<void> | undefined;
  /** Start of the running save, in milliseconds of the monotonic clock; undefined if none is running. */
  #begun: number | undefined;
  /** Memory in bytes that the emulator's state used when the last save began. */
  #heldBytes = 0;

  private constructor(
    private readonly current: CurrentWorld,
    private readonly options: PersistenceOptions,
    private readonly folder: KeptFolder,
    private readonly unlock: () => Promise<void>,
  ) {}

  /**
   * Locks the `--persist` folder and imports the state that it contains. `isNew` is true if it contained no state.
   * Rejects with `SourceError` if the folder cannot be used.
   */
  static async open(
    current: CurrentWorld,
    given: PersistenceOptions,
  ): Promise<{ readonly persistence: Persistence; readonly isNew: boolean }> {
    const folder = resolve(given.folder);
    const options = { ...given, folder };
    await saying(folder, mkdir(folder, { recursive: true, mode: 0o700 }), 'used');
    await saying(folder, requireOwn(folder), 'used');
    const lock = await saying(folder, lockFolder(folder), 'used');
    try {
      const { config, engine } = current;
      const kept = new KeptFolder({ folder, secrets: options.secrets, config, engine });
      const persistence = new Persistence(current, options, kept, lock.release);
      const tree = new DiskTree(folder);
      const isNew = (await tree.stat(bytesOf(MANIFEST))) === undefined;
      const isWhole = isNew || (await persistence.#importFrom(tree, lock.wasStale));
      persistence.#hasLeftovers = lock.wasStale || !isWhole;
      return { persistence, isNew };
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Saves the current state, then saves every later change automatically. Rejects if the first save fails. */
  async begin(): Promise<void> {
    await this.save();
    if (this.#hasLeftovers) await saying(this.options.folder, this.folder.prune(), 'used');
    const { resources } = this.current.engine;
    resources.beforeAcknowledgement = () => this.#beforeAcknowledgement();
    this.#end.signal.addEventListener('abort', () => {
      resources.beforeAcknowledgement = () => undefined;
    });
    void this.#saveChanges();
  }

  /**
   * Saves the current state as soon as no other save is running. Calls that wait at the same time share one save.
   * Rejects with `SourceError` if the save fails.
   */
  save(): Promise<void> {
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        this.#running = this.#save();
        return this.#running;
      });
    return this.#next;
  }

  /** Saves the state a last time and unlocks the folder. Rejects with `SourceError` if the save fails. */
  async close(): Promise<void> {
    this.#end.abort();
    try {
      await this.save();
    } finally {
      await this.unlock();
    }
  }

  /** Stops saving and unlocks the folder, without a last save. */
  async abandon(): Promise<void> {
    this.#end.abort();
    await this.unlock();
  }

  async #importFrom(tree: DiskTree, wasKilled: boolean): Promise<boolean> {
    const { current } = this;
    const { found, hasSecrets } = await importTree(current, tree, current.config.organizations[0]!.name);
    // `found` is undefined if the folder contained an export of one repository, which has another layout. The next save
    // must then write everything.
    if (!found) return false;
    return this.#withSnapshot((snapshot) =>
      this.folder.adopt(found, snapshot, { hasSecrets: hasSecrets === true, isGitCurrent: !wasKilled }),
    );
  }

  async #saveChanges(): Promise<void> {
    const { pause = realPause, folder, warn } = this.options;
    const { signal } = this.#end;
    for (;;) {
      await pause(PAUSE, signal).catch(() => {});
      if (signal.aborted) return;
      const now = marksOf(this.current.world);
      if (now.length === this.#saved.length && now.every((mark, at) => mark === this.#saved[at])) continue;
      try {
        await this.save();
        if (this.#hasFailed) warn(`The state could be saved to ${folder} again.`);
        this.#hasFailed = false;
      } catch (error) {
        // The loop will try to save again. Warns the user only once until a save succeeds.
        if (!this.#hasFailed) warn((error as Error).message);
        this.#hasFailed = true;
      }
    }
  }

  /**
   * Called before the response to a write is sent. Returns a promise that resolves when the write is saved. Returns
   * undefined if the response need not wait.
   */
  #beforeAcknowledgement(): Promise<void> | undefined {
    const { memory } = this.current.engine;
    const isLate = this.#begun !== undefined && this.#now() - this.#begun > LATE;
    if (!isLate && memory.used - this.#heldBytes <= MAX_UNSAVED) return undefined;
    // Responses do not wait while saving fails, because the user has been warned.
    return this.#hasFailed ? undefined : this.save().catch(() => {});
  }

  #now(): number {
    return (this.options.now ?? performance.now.bind(performance))();
  }

  async #save(): Promise<void> {
    const { world, engine } = this.current;
    const marks = marksOf(world);
    this.#heldBytes = engine.memory.used;
    this.#begun = this.#now();
    try {
      await this.#withSnapshot((saved) => this.folder.save({ ...saved, isLast: this.#end.signal.aborted }));
    } catch (error) {
      throw writeError(this.options.folder, error);
    } finally {
      this.#begun = undefined;
    }
    this.#saved = marks;
  }

  async #withSnapshot<T>(
    use: (saved: { snapshot: ReturnType<World['snapshot']>; world: object }) => Promise<T>,
  ): Promise<T> {
    const { world, engine } = this.current;
    if (world !== this.#world) this.#numbering = {};
    this.#world = world;
    const snapshot = world.snapshot();
    try {
      return await use({ snapshot, world: this.#numbering });
    } finally {
      releaseRepositories(snapshot.repositories, engine.memory);
    }
  }
}

/**
 * Returns values of a world's state, at least one of which changes whenever there is something to save. Requests that
 * only read change none of them.
 */
function marksOf(world: World): unknown[] {
  const { clock, deliveries, ids, organizations, repositories, quotas, settings, webhooks } = world.state;
  const { mode, time, ahead } = clock.snapshot();
  const made = [...ids.snapshot().values()].reduce((sum, count) => sum + count, 0);
  const { quotas: set } = quotas.snapshot();
  const own = [organizations.snapshot(), repositories.revision, webhooks.snapshot(), settings.snapshot()];
  return [...own, deliveries.revision, set, made, mode, ahead, mode === 'frozen' ? time : 0];
}
