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
import { takeOver } from './read-state.js';
import { requireOwn, writeError } from './state-directory.js';

/** Milliseconds (real time) between the end of a save and the next look for changes. A save holds all changes before it begins. */
export const PAUSE = 100;

/**
 * An answer to a write waits until the write is saved, if a save has run for this many milliseconds (real time), or if this
 * many bytes came since the last one began. Otherwise the next save could take longer than the documents promise.
 */
const LATE = 300;
const MOST_UNSAVED = 8 * 1024 * 1024;

export interface PersistenceOptions {
  readonly folder: string;
  readonly secrets: boolean;
  /** Told, in a sentence, that the state could not be saved, and that it can be again. */
  readonly warn: (sentence: string) => void;
  /** Waits for so many milliseconds of real time; rejects when `signal` is aborted. */
  readonly pause?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** A clock that never runs backwards, in milliseconds. */
  readonly now?: () => number;
}

const realPause: NonNullable<PersistenceOptions['pause']> = (milliseconds, signal) =>
  pauseFor(milliseconds, undefined, { signal, ref: false });

/**
 * Saves the current world to a folder that no other process uses meanwhile: after changes, and at the end.
 *
 * A save takes the state as it is when the save begins. Saves follow each other with a pause of `PAUSE`, so a change is in
 * the folder after the rest of the save that runs, the pause, and one save.
 */
export class Persistence {
  /** What was saved last, by identity. */
  #saved: readonly unknown[] = [];
  #world: World | undefined;
  /** Identifies `#world` without holding it. */
  #numbering: object = {};
  #hasFailed = false;
  /** The folder may hold files that belong to no state. */
  #hasLeftovers = false;
  readonly #end = new AbortController();
  /** The save that runs, or that was the last one. */
  #running: Promise<void> = Promise.resolve();
  /** A save that waits for the one that runs. */
  #next: Promise<void> | undefined;
  /** When the save that runs has begun; undefined if none runs. */
  #begun: number | undefined;
  /** Bytes that were held when the last save began. */
  #heldBytes = 0;

  private constructor(
    private readonly current: CurrentWorld,
    private readonly options: PersistenceOptions,
    private readonly folder: KeptFolder,
    private readonly unlock: () => Promise<void>,
  ) {}

  /** Takes the folder, and what is in it. `isNew`: there was nothing. Rejects with `SourceError`. */
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
      const isWhole = isNew || (await persistence.#takeOver(tree, lock.wasStale));
      persistence.#hasLeftovers = lock.wasStale || !isWhole;
      return { persistence, isNew };
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Saves what there is, and from now on what changes. Rejects where even that cannot be saved. */
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

  /** Saves what there is, behind the save that runs. Rejects with `SourceError`. */
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

  /** Saves once more, and lets go of the folder. Rejects with `SourceError` if that could not be saved. */
  async close(): Promise<void> {
    this.#end.abort();
    try {
      await this.save();
    } finally {
      await this.unlock();
    }
  }

  /** Lets go of the folder without saving. */
  async abandon(): Promise<void> {
    this.#end.abort();
    await this.unlock();
  }

  async #takeOver(tree: DiskTree, wasKilled: boolean): Promise<boolean> {
    const { current } = this;
    const { found, hasSecrets } = await takeOver(current, tree, current.config.organizations[0]!.name);
    // One repository alone is written anew, as part of a state.
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
        if (this.#hasFailed) warn(`${folder} can be written again, and is up to date.`);
        this.#hasFailed = false;
      } catch (error) {
        // The next save tries again; one warning is enough.
        if (!this.#hasFailed) warn((error as Error).message);
        this.#hasFailed = true;
      }
    }
  }

  /** Resolves when the write is saved; undefined if it can be acknowledged before. */
  #beforeAcknowledgement(): Promise<void> | undefined {
    const { memory } = this.current.engine;
    const isLate = this.#begun !== undefined && this.#now() - this.#begun > LATE;
    if (!isLate && memory.used - this.#heldBytes <= MOST_UNSAVED) return undefined;
    // What cannot be saved is warned of once, and holds nobody up.
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

/** What changes when something is to be saved. That a request was made changes none of it. */
function marksOf(world: World): unknown[] {
  const { clock, deliveries, ids, organizations, repositories, quotas, settings, webhooks } = world.state;
  const { mode, time, ahead } = clock.snapshot();
  const made = [...ids.snapshot().values()].reduce((sum, count) => sum + count, 0);
  const { quotas: set } = quotas.snapshot();
  const own = [organizations.snapshot(), repositories.revision, webhooks.snapshot(), settings.snapshot()];
  return [...own, deliveries.revision, set, made, mode, ahead, mode === 'frozen' ? time : 0];
}
