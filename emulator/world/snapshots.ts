import type { MemoryBudget } from '../memory/memory-budget.js';
import { releaseRepositories } from './repositories.js';
import type { WorldSnapshot } from './state.js';

/** Snapshots kept at a time: each holds on to what it has seen. */
export const MAX_SNAPSHOTS = 1_000;

/** A snapshot, for lists. */
export interface KeptSnapshot {
  readonly id: string;
  /** Milliseconds on the clock of the world it was taken of. */
  readonly takenAt: number;
  /** Repositories in it, those that were deleted included. */
  readonly repositories: number;
}

/** Snapshots by id. What is in one counts as held, also when the world has let go of it. */
export class Snapshots {
  readonly #byId = new Map<string, { readonly snapshot: WorldSnapshot; readonly takenAt: number }>();
  #taken = 0;

  constructor(private readonly memory: MemoryBudget) {}

  get hasRoom(): boolean {
    return this.#byId.size < MAX_SNAPSHOTS;
  }

  /** Keeps a snapshot, which `take` takes at `takenAt`, and names it unless it has a name. */
  keep(take: () => WorldSnapshot, takenAt: number, name?: string): string {
    if (!this.hasRoom) throw new Error(`There are ${MAX_SNAPSHOTS} snapshots already.`);
    const id = name ?? `snapshot-${this.#taken + 1}`;
    this.#byId.set(id, { snapshot: take(), takenAt });
    if (name === undefined) this.#taken += 1;
    return id;
  }

  get(id: string): WorldSnapshot {
    const kept = this.#byId.get(id);
    if (!kept) throw new Error(`There is no snapshot ${JSON.stringify(id)}.`);
    return kept.snapshot;
  }

  /** In the order in which they were taken. */
  list(): KeptSnapshot[] {
    return Array.from(this.#byId, ([id, { snapshot, takenAt }]) => {
      return { id, takenAt, repositories: snapshot.repositories.contents.size };
    });
  }

  /** Lets go of a snapshot. What no world and no other snapshot has of it is free. */
  remove(id: string): void {
    const { repositories } = this.get(id);
    this.#byId.delete(id);
    releaseRepositories(repositories, this.memory);
  }

  clear(): void {
    for (const id of this.#byId.keys()) this.remove(id);
  }
}
