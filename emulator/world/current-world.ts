import type { Limits } from '../config/limits.js';
import type { Variants } from '../config/variants.js';
import { type GivenConfig, type WorldConfig, worldConfig } from './config.js';
import { Engine } from './engine.js';
import { type ProcessPorts, ProcessResources } from './process-resources.js';
import { type KeptSnapshot, Snapshots } from './snapshots.js';
import type { StateName, WorldSnapshot } from './state.js';
import { World } from './world.js';

/**
 * Configuration of a fork (world that starts as a copy of another). Absent members are copied from the original world.
 */
export interface ForkOptions extends Partial<Omit<WorldConfig, 'limits' | 'variants'>> {
  /** Limits and variants (configurable behaviours) of the fork. Absent ones are copied from the original world. */
  readonly limits?: Partial<Limits> | undefined;
  readonly variants?: Partial<Variants> | undefined;
  /**
   * Id of the snapshot of the original world (state of an emulated service) from which the fork starts. If absent, the
   * fork starts in the state before the first request.
   */
  readonly snapshot?: string | undefined;
}

/**
 * Parts of the state that a configuration member initializes, by the name of the member. If a fork's options contain
 * the member, the part starts with this value instead of the snapshot's.
 */
const STARTED_BY = { clock: 'clock', organizations: 'organizations' } as const satisfies Partial<
  Record<keyof WorldConfig, StateName>
>;

interface Origin {
  readonly resources: ProcessResources;
  readonly snapshot?: WorldSnapshot | undefined;
  readonly without?: readonly StateName[];
}

/** Id of the snapshot that `reset` restores. Lists of snapshots omit it. */
const INITIAL = 'initial';

/**
 * World (state of an emulated service) that serves new requests, with its snapshots. Restoring a snapshot replaces this
 * world with a new one.
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
   * Takes a snapshot of the current state and returns its id. The cost does not depend on the number of Git objects,
   * because the snapshot shares them.
   */
  snapshot(): string {
    const { state } = this.#world;
    return this.#snapshots.keep(() => this.#world.snapshot(), state.clock.now());
  }

  get hasRoomForSnapshot(): boolean {
    return this.#snapshots.hasRoom;
  }

  /** Returns the snapshots, oldest first. Omits the snapshot that `reset` restores. */
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
   * Restores a snapshot. The state is replaced before this function returns, for all requests at once. The promise
   * resolves when the background work of the previous world (state of an emulated service) has ended. It rejects if the
   * snapshot does not exist.
   */
  async restore(id: string): Promise<void> {
    await this.replace(this.#snapshots.get(id));
  }

  /**
   * Same as `restore`, but for a snapshot from another source, such as an import. The caller must release the snapshot.
   */
  async replace(snapshot: WorldSnapshot): Promise<void> {
    const before = this.#world;
    this.#world = new World(this.config, this.engine, { snapshot });
    await before.close();
  }

  /** Makes `reset` return to the current state. */
  keepAsInitial(): void {
    this.#snapshots.remove(INITIAL);
    this.#keepInitial();
  }

  /** Restores the state before the first request, or the state at the last call of `keepAsInitial`. */
  reset(): Promise<void> {
    return this.restore(INITIAL);
  }

  /**
   * Creates another world in this process. It starts from a snapshot of this world, and then changes independently.
   * Both share the snapshot's Git objects (copy-on-write), so the cost does not depend on their number. The caller must
   * close the new world.
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
   * Ends the background work of the world (state of an emulated service), and frees its memory and its snapshots.
   * Closing a fork leaves the `ProcessResources` open, because the original world still uses them.
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
