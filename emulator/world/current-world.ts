import type { Limits } from '../config/limits.js';
import type { Variants } from '../config/variants.js';
import { type GivenConfig, type WorldConfig, worldConfig } from './config.js';
import { Engine } from './engine.js';
import { type ProcessPorts, ProcessResources } from './process-resources.js';
import { type KeptSnapshot, Snapshots } from './snapshots.js';
import type { StateName, WorldSnapshot } from './state.js';
import { World } from './world.js';

/** How a fork differs from the world it is made of. */
export interface ForkOptions extends Partial<Omit<WorldConfig, 'limits' | 'variants'>> {
  /** What is absent is as in the world it is made of. */
  readonly limits?: Partial<Limits> | undefined;
  readonly variants?: Partial<Variants> | undefined;
  /** Where it starts; without it as before the first request. */
  readonly snapshot?: string | undefined;
}

/** Members of the configuration that a part of the state starts from: given for a fork, they count and not the snapshot. */
const STARTED_BY = { clock: 'clock', organizations: 'organizations' } as const satisfies Partial<
  Record<keyof WorldConfig, StateName>
>;

interface Origin {
  readonly resources: ProcessResources;
  readonly snapshot?: WorldSnapshot | undefined;
  readonly without?: readonly StateName[];
}

/** Id of the snapshot that `reset` goes back to; it is in no list. */
const INITIAL = 'initial';

/** The world that requests begin in, and the snapshots it can be put back to. */
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

  /** Keeps the state as it is now; returns the id to restore it by. What that costs does not depend on the objects. */
  snapshot(): string {
    const { state } = this.#world;
    return this.#snapshots.keep(() => this.#world.snapshot(), state.clock.now());
  }

  get hasRoomForSnapshot(): boolean {
    return this.#snapshots.hasRoom;
  }

  /** The snapshots that were asked for, oldest first. */
  snapshots(): KeptSnapshot[] {
    return this.#snapshots.list().filter(({ id }) => id !== INITIAL);
  }

  /** Lets go of a snapshot. Throws when there is no such snapshot. */
  removeSnapshot(id: string): void {
    if (id === INITIAL) throw new Error(`There is no snapshot ${JSON.stringify(id)}.`);
    this.#snapshots.remove(id);
    this.#world.state.repositories.dropUnheld();
  }

  /**
   * Puts the state back to a snapshot's, before it returns, in one step for all requests. What it resolves with is the end of what ran in
   * the background. Rejects when there is no such snapshot.
   */
  async restore(id: string): Promise<void> {
    await this.replace(this.#snapshots.get(id));
  }

  /** As `restore`, to a state that came from elsewhere; the caller holds it. */
  async replace(snapshot: WorldSnapshot): Promise<void> {
    const before = this.#world;
    this.#world = new World(this.config, this.engine, { snapshot });
    await before.close();
  }

  /** What `reset` goes back to is the state as it is now. */
  keepAsInitial(): void {
    this.#snapshots.remove(INITIAL);
    this.#keepInitial();
  }

  /** Puts the state back to that before the first request, as `restore`. */
  reset(): Promise<void> {
    return this.restore(INITIAL);
  }

  /**
   * Another world in this process, which starts at a snapshot of this one and goes on by itself: neither sees what the other does.
   * They share what they have in common, so its cost does not depend on that. It is the caller's to close.
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

  /** Ends what runs in the background and lets go of everything; of the process's own only what is no fork's. */
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
