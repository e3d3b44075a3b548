import type { RepositoryContent } from '../repositories/content.js';
import { heldBytesOf, type LfsObject, type LfsObjects } from '../repositories/lfs-objects.js';
import type { Repository } from '../repositories/repository.js';
import { type GivenConfig, type WorldConfig, worldConfig } from './config.js';
import { Engine, type EnginePorts } from './engine.js';
import type { KeptContent } from './repositories.js';
import { type KeptSnapshot, Snapshots } from './snapshots.js';
import type { WorldSnapshot } from './state.js';
import { World } from './world.js';

/** The world that requests begin in, and the snapshots it can be put back to. */
export class CurrentWorld {
  readonly config: WorldConfig;
  readonly engine: Engine;
  readonly #snapshots = new Snapshots();
  readonly #initial: string;
  #world: World;
  #restores: Promise<unknown> = Promise.resolve();

  constructor(given: GivenConfig, ports: EnginePorts = {}) {
    this.config = worldConfig(given);
    this.engine = new Engine(this.config, ports);
    this.#world = this.#createWorld();
    this.#initial = this.snapshot();
  }

  get world(): World {
    return this.#world;
  }

  /** Keeps the state as it is now; returns the id to restore it by. */
  snapshot(): string {
    return this.#snapshots.keep(this.#world.snapshot(), this.#world.state.clock.now());
  }

  get hasRoomForSnapshot(): boolean {
    return this.#snapshots.hasRoom;
  }

  /** The snapshots that were asked for, oldest first. */
  snapshots(): KeptSnapshot[] {
    return this.#snapshots.list().filter(({ id }) => id !== this.#initial);
  }

  /** Lets go of a snapshot; what nothing else holds is held no more. Throws when there is no such snapshot. */
  removeSnapshot(id: string): Promise<void> {
    // Behind a restore that is under way, which may be one to it.
    const removed = this.#restores.then(() => this.#removeSnapshot(id));
    this.#restores = removed.catch(() => undefined);
    return removed;
  }

  #removeSnapshot(id: string): void {
    if (id === this.#initial) throw new Error('What was before the first request cannot be removed.');
    const { contents } = this.#snapshots.get(id).repositories;
    const lfsBefore = this.#lfsObjects([]);
    this.#snapshots.remove(id);
    const inUse = new Set(Array.from(this.#world.state.repositories.all(), ({ content }) => content));
    const unused = new Set(Array.from(contents.values(), ({ content }) => content));
    for (const content of unused) if (content.snapshots === 0 && !inUse.has(content)) content.release();
    const lfsAfter = this.#lfsObjects(this.#world.state.repositories.all());
    for (const object of lfsBefore) if (!lfsAfter.has(object)) this.engine.memory.give(heldBytesOf(object));
  }

  /** Puts the state back to a snapshot's, in one step for all requests. Throws when there is no such snapshot. */
  restore(id: string): Promise<void> {
    const restored = this.#restores.then(() => this.#restore(id));
    this.#restores = restored.catch(() => undefined);
    return restored;
  }

  /** Puts the state back to that before the first request. */
  reset(): Promise<void> {
    return this.restore(this.#initial);
  }

  /** Ends what runs in the background. */
  async close(): Promise<void> {
    this.engine.schedule.close();
    await this.#world.background.close();
  }

  async #restore(id: string): Promise<void> {
    const { engine } = this;
    const { contents } = this.#snapshots.get(id).repositories;
    const copies = new Map<KeptContent, RepositoryContent>();
    // While objects are copied, requests go on, and may change more of them.
    for (let changed = changedOf(contents, copies); changed.length > 0; changed = changedOf(contents, copies)) {
      for (const kept of changed) copies.set(kept, await engine.copyContent(kept.content, kept.mark));
    }
    // From here to the end nothing waits: a request begins in the world before or in the one after.
    const before = [...this.#world.state.repositories.all()];
    const lfsBefore = this.#lfsObjects(before);
    const restored = new Map([...contents].map(([key, kept]) => [key, putBack(kept, copies)]));
    const snapshot = this.#snapshots.replaceContents(id, restored);
    const closed = this.#world.background.close();
    for (const { git } of before) engine.gitService.forget(git);
    const letGo = new Set([...before, ...contents.values()].map(({ content }) => content));
    for (const content of letGo) if (content.snapshots === 0) content.release();
    for (const content of copies.values()) content.objects.stored.budget.attach(engine.memory);
    this.#world = this.#createWorld(snapshot);
    const lfsAfter = this.#lfsObjects([]);
    for (const object of lfsBefore) if (!lfsAfter.has(object)) engine.memory.give(heldBytesOf(object));
    await closed;
  }

  #createWorld(snapshot?: WorldSnapshot): World {
    return new World(this.config, this.engine, { snapshot, keptLfsObjects: () => this.#snapshots.lfsObjects() });
  }

  /** What `repositories` and all snapshots hold, each once. */
  #lfsObjects(repositories: Iterable<Repository>): Set<LfsObject> {
    const found = new Set<LfsObject>();
    const add = (objects: LfsObjects | undefined) => {
      for (const object of objects?.objects() ?? []) found.add(object);
    };
    for (const { record } of repositories) add(record.lfsObjects);
    for (const objects of this.#snapshots.lfsObjects()) add(objects);
    return found;
  }
}

/** Contents that are not as they were, or that a writer is at work on; those that were copied are left out. */
function changedOf(
  contents: ReadonlyMap<string, KeptContent>,
  copies: ReadonlyMap<KeptContent, RepositoryContent>,
): KeptContent[] {
  return [...contents.values()].filter((kept) => {
    const { size, transactions } = kept.content.objects;
    return !copies.has(kept) && (size !== kept.mark.size || transactions > 0);
  });
}

function putBack(kept: KeptContent, copies: ReadonlyMap<KeptContent, RepositoryContent>): KeptContent {
  return { ...kept, content: copies.get(kept) ?? kept.content };
}
