import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { bytesOf } from '../git/object/bytes.js';
import { DiskTree } from '../sources/disk-tree.js';
import { SourceError } from '../sources/file-tree.js';
import { MANIFEST } from '../sources/open-source.js';
import type { CurrentWorld } from '../world/current-world.js';
import { releaseRepositories } from '../world/repositories.js';
import type { World } from '../world/world.js';
import { lockFolder } from './folder-lock.js';
import { requireOwn, saveState } from './state-directory.js';
import { takeOver } from './take-over.js';
import { type WrittenPacks, writeWorld } from './write-state.js';

/** Milliseconds (real time) between two looks for changes: what comes in between is saved together. */
const PAUSE = 100;

export interface PersistenceOptions {
  readonly folder: string;
  readonly secrets: boolean;
  /** Told, in a sentence, that the state could not be saved, and that it can be again. */
  readonly warn: (sentence: string) => void;
}

/** Keeps the current world in a folder, which no other process uses meanwhile: after changes, and at the end. */
export class Persistence {
  /** What was saved last, by identity. */
  #saved: readonly unknown[] = [];
  #world: World | undefined;
  #written = new Map<string, WrittenPacks>();
  #saving: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #hasFailed = false;

  private constructor(
    private readonly current: CurrentWorld,
    private readonly options: PersistenceOptions,
    private readonly unlock: () => Promise<void>,
  ) {}

  /** Takes the folder, and what is in it. `isNew`: there was nothing. Rejects with `SourceError`. */
  static async open(
    current: CurrentWorld,
    options: PersistenceOptions,
  ): Promise<{ readonly persistence: Persistence; readonly isNew: boolean }> {
    const folder = resolve(options.folder);
    await saying(folder, async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await requireOwn(folder);
    });
    const unlock = await saying(folder, () => lockFolder(folder));
    try {
      const tree = new DiskTree(folder, folder);
      const isNew = (await tree.stat(bytesOf(MANIFEST))) === undefined;
      if (!isNew) await takeOver(current, tree, current.config.organizations[0]!.name);
      return { persistence: new Persistence(current, { ...options, folder }, unlock), isNew };
    } catch (error) {
      await unlock();
      throw error;
    }
  }

  /** Saves what there is, and from now on what changes. Rejects where even that cannot be saved. */
  async begin(): Promise<void> {
    await this.#save();
    this.#wait();
  }

  /** Saves once more, and lets go of the folder. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#saving?.catch(() => {});
    try {
      await this.#save();
    } catch (error) {
      this.options.warn((error as Error).message);
    } finally {
      await this.unlock();
    }
  }

  /** Lets go of the folder without saving. */
  async abandon(): Promise<void> {
    clearTimeout(this.#timer);
    await this.unlock();
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      this.#saving = this.#saveChanges().finally(() => {
        this.#saving = undefined;
        if (this.#timer) this.#wait();
      });
    }, PAUSE);
    this.#timer.unref();
  }

  async #saveChanges(): Promise<void> {
    const now = marksOf(this.current.world);
    if (now.length === this.#saved.length && now.every((mark, at) => mark === this.#saved[at])) return;
    try {
      await this.#save();
      if (this.#hasFailed) this.options.warn(`${this.options.folder} can be written again, and is up to date.`);
      this.#hasFailed = false;
    } catch (error) {
      // It is tried again; once is enough to say so.
      if (!this.#hasFailed) this.options.warn((error as Error).message);
      this.#hasFailed = true;
    }
  }

  async #save(): Promise<void> {
    const { current, options } = this;
    const { world, config, engine } = current;
    if (world !== this.#world) this.#written = new Map();
    const marks = marksOf(world);
    const snapshot = world.snapshot();
    try {
      const written = new Map(this.#written);
      await saveState(options.folder, writeWorld(snapshot, { config, engine }, { secrets: options.secrets, written }));
      this.#written = written;
      this.#world = world;
      this.#saved = marks;
    } catch (error) {
      // Of what is in the folder nothing is taken for granted.
      this.#written = new Map();
      throw error;
    } finally {
      releaseRepositories(snapshot.repositories, engine.memory);
    }
  }
}

/** What changes when something is to be saved. That a request was made changes none of it. */
function marksOf(world: World): unknown[] {
  const { clock, deliveries, ids, organizations, repositories, quotas, settings, webhooks } = world.state;
  const { mode, time, ahead } = clock.reading;
  const made = [...ids.snapshot().values()].reduce((sum, count) => sum + count, 0);
  const { quotas: set } = quotas.snapshot();
  const own = [organizations.snapshot(), repositories.revision, webhooks.snapshot(), settings.snapshot()];
  return [...own, deliveries.revision, set, made, mode, ahead, mode === 'frozen' ? time : 0];
}

async function saying<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    throw typeof syscall === 'string' ? new SourceError(`${folder} cannot be used (${code}).`) : error;
  }
}
