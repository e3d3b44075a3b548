import type { MemoryBudget } from '../memory/memory-budget.js';
import { releaseRepositories } from './repositories.js';
import type { WorldSnapshot } from './state.js';

/**
 * Maximum number of snapshots of one world (state of an emulated service). The limit is needed because each snapshot
 * keeps its Git objects in memory.
 */
export const MAX_SNAPSHOTS = 1_000;

/** Description of a snapshot for lists of snapshots. */
export interface KeptSnapshot {
  readonly id: string;
  /** Time at which the snapshot was taken, in milliseconds on the emulator's clock, which a test can set. */
  readonly takenAt: number;
  /** Number of repositories in the snapshot, including deleted ones. */
  readonly repositories: number;
}

/**
 * Snapshots of one world (state of an emulated service), by id. The memory budget counts their Git objects, even after
 * the world has released them.
 */
export class Snapshots {
  readonly #byId = new Map<string, { readonly snapshot: WorldSnapshot; readonly takenAt: number }>();
  #taken = 0;

  constructor(private readonly memory: MemoryBudget) {}

  get hasRoom(): boolean {
    return this.#byId.size < MAX_SNAPSHOTS;
  }

  /**
   * Keeps the snapshot that `take` returns. Returns its id, which is `name`, or a generated id if `name` is absent. If
   * the maximum number of snapshots is reached, throws without calling `take`.
   */
  keep(take: () => WorldSnapshot, takenAt: number, name?: string): string {
    if (!this.hasRoom) throw new Error(`Snapshot limit (${MAX_SNAPSHOTS}) reached. Remove a snapshot first.`);
    const id = name ?? `snapshot-${this.#taken + 1}`;
    this.#byId.set(id, { snapshot: take(), takenAt });
    if (name === undefined) this.#taken += 1;
    return id;
  }

  get(id: string): WorldSnapshot {
    const kept = this.#byId.get(id);
    if (!kept) throw new Error(`The snapshot ${JSON.stringify(id)} does not exist.`);
    return kept.snapshot;
  }

  /** Returns the snapshots in the order in which they were taken. */
  list(): KeptSnapshot[] {
    return Array.from(this.#byId, ([id, { snapshot, takenAt }]) => {
      return { id, takenAt, repositories: snapshot.repositories.contents.size };
    });
  }

  /**
   * Removes a snapshot. Frees the objects that neither the world (state of an emulated service) nor another snapshot
   * contains.
   */
  remove(id: string): void {
    const { repositories } = this.get(id);
    this.#byId.delete(id);
    releaseRepositories(repositories, this.memory);
  }

  clear(): void {
    for (const id of this.#byId.keys()) this.remove(id);
  }
}
