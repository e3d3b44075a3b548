import type { Limits } from '../config/limits.js';
import type { Variants } from '../config/variants.js';
import { type GivenConfig, type WorldConfig, worldConfig } from './config.js';
import { Engine } from './engine.js';
import { type ProcessPorts, ProcessResources } from './process-resources.js';
import { type KeptSnapshot, Snapshots } from './snapshots.js';
import type { StateName, WorldSnapshot } from './state.js';
import { World } from './world.js';

/**
 * Configuration of a fork (a world that starts as a copy of another one). Absent members are taken from the original
 * world.
 */
export interface ForkOptions extends Partial<Omit<WorldConfig, 'limits' | 'variants'>> {
  /** Limits and variants (configurable behaviours) of the fork. Absent ones are those of the original world. */
  readonly limits?: Partial<Limits> | undefined;
  readonly variants?: Partial<Variants> | undefined;
  /**
   * Id of the snapshot of the original world (state of an emulated service) from which the fork starts; if absent, the
   * state before the first request.
   */
  readonly snapshot?: string | undefined;
}

/**
 * Parts of the state whose initial value is set by a member of the configuration, by the name of the member. If the
 * options of a fork contain the member, the part starts with this value and is not restored from the snapshot.
 */
const STARTED_BY = { clock: 'clock', organizations: 'organizations' } as const satisfies Partial<
  Record<keyof WorldConfig, StateName>
>;

interface Origin {
  readonly resources: ProcessResources;
  readonly snapshot?: WorldSnapshot | undefined;
  readonly without?: readonly StateName[];
}

/** Id of the snapshot that `reset` restores. Lists of snapshots do not contain it. */
const INITIAL = 'initial';

/**
 * World (state of one emulated service) that serves new requests, and the snapshots of it. Restoring a snapshot
 * replaces the world by a new one.
 */
export class CurrentWorld {
  readonly config: WorldConfig;
  readonly engine: Engine;
  readonly #resources: ProcessResources;
  readonly #isFork: boolean;
  readonly #snapshots: Snapshots;
  #world: World;
  #closed: Promise<void> | undefined;

  constructor(given: GivenConfig, ports: ProcessPorts = {}, origin?: Origin) {
    this.config = worldConfig(given);
    this.#isFork = origin !== undefined;
    this.#resources = origin?.resources ?? new ProcessResources(this.config, ports);
    this.engine = new Engine(this.config, this.#resources);
    this.#snapshots = new Snapshots(this.#resources.memory);
    this.#world = new World(this.config, this.engine, origin);
    this.#keepInitial();
  }

  get world(): World {
    return this.#world;
  }

  /**
   * Takes a snapshot of the current state and returns the id of the snapshot. The cost does not depend on the number of
   * Git objects, because the snapshot shares them.
   */
  snapshot(): string {
    const { state } = this.#world;
    return this.#snapshots.keep(() => this.#world.snapshot(), state.clock.now());
  }

  get hasRoomForSnapshot(): boolean {
    return this.#snapshots.hasRoom;
  }

  /** Returns the snapshots, oldest first, without the one that `reset` restores. */
  snapshots(): KeptSnapshot[] {
    return this.#snapshots.list().filter(({ id }) => id !== INITIAL);
  }

  /** Removes a snapshot and frees its memory. Throws if the snapshot does not exist. */
  removeSnapshot(id: string): void {
    if (id === INITIAL) throw new Error(`The snapshot ${JSON.stringify(id)} does not exist.`);
    this.#snapshots.remove(id);
    this.#world.state.repositories.dropUnheld();
  }

  /**
   * Restores a snapshot. The state is replaced before the function returns, in one step for all requests. The promise
   * resolves when the background work of the previous world (state of an emulated service) has ended, and rejects if
   * the snapshot does not exist.
   */
  async restore(id: string): Promise<void> {
    await this.replace(this.#snapshots.get(id));
  }

  /** Same as `restore`, for a snapshot from another source, such as an import. The caller must release the snapshot. */
  async replace(snapshot: WorldSnapshot): Promise<void> {
    const before = this.#world;
    this.#world = new World(this.config, this.engine, { snapshot });
    await before.close();
  }

  /** Makes the current state the one to which `reset` returns. */
  keepAsInitial(): void {
    this.#snapshots.remove(INITIAL);
    this.#keepInitial();
  }

  /** Restores the state before the first request, or the one that `keepAsInitial` has stored. */
  reset(): Promise<void> {
    return this.restore(INITIAL);
  }

  /**
   * Creates another world in this process, which starts from a snapshot of this one and changes independently. Both
   * share the Git objects of the snapshot (copy-on-write), so the cost does not depend on the number of objects. The
   * caller must close the new world.
   */
  fork({ snapshot: id, limits, variants, ...overrides }: ForkOptions = {}): CurrentWorld {
    const { config } = this;
    const ownConfig = {
      ...config,
      ...overrides,
      limits: { ...config.limits, ...limits },
      variants: { ...config.variants, ...variants },
    };
    if (id === undefined) return new CurrentWorld(ownConfig, {}, { resources: this.#resources });
    const without = Object.entries(STARTED_BY).flatMap(([member, name]) => (member in overrides ? [name] : []));
    const snapshot = this.#snapshots.get(id);
    const settings = {
      limits: { ...snapshot.settings.limits, ...limits },
      variants: { ...snapshot.settings.variants, ...variants },
    };
    const origin = { resources: this.#resources, snapshot: { ...snapshot, settings }, without };
    return new CurrentWorld(ownConfig, {}, origin);
  }

  /**
   * Ends the background work of the world (state of an emulated service) and releases its memory and that of its
   * snapshots. A fork keeps the resources of the process open (`ProcessResources`), because the original world still
   * uses them.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #keepInitial(): void {
    this.#snapshots.keep(() => this.#world.snapshot(), this.#world.state.clock.now(), INITIAL);
  }

  async #close(): Promise<void> {
    if (!this.#isFork) this.#resources.close();
    const closed = this.#world.close();
    this.#snapshots.clear();
    await closed;
  }
}
