import type { MemoryBudget } from '../memory/memory-budget.js';
import { releaseRepositories } from './repositories.js';
import type { WorldSnapshot } from './state.js';

/** Maximum number of snapshots, because each keeps its objects in memory. */
export const MAX_SNAPSHOTS = 1_000;

/** Snapshot in lists. */
export interface KeptSnapshot {
  readonly id: string;
  /** Milliseconds on the clock of the world when it was taken. */
  readonly takenAt: number;
  /** Number of repositories in it, including deleted ones. */
  readonly repositories: number;
}

/** Snapshots by id. Their objects count as held, also if the world has released them. */
export class Snapshots {
  readonly #byId = new Map<string, { readonly snapshot: WorldSnapshot; readonly takenAt: number }>();
  #taken = 0;

  constructor(private readonly memory: MemoryBudget) {}

  get hasRoom(): boolean {
    return this.#byId.size < MAX_SNAPSHOTS;
  }

  /** Keeps the snapshot that `take` returns. Generates a name if none is given. Throws if the limit is reached. */
  keep(take: () => WorldSnapshot, takenAt: number, name?: string): string {
    if (!this.hasRoom) throw new Error(`Snapshot limit (${MAX_SNAPSHOTS}) reached.`);
    const id = name ?? `snapshot-${this.#taken + 1}`;
    this.#byId.set(id, { snapshot: take(), takenAt });
    if (name === undefined) this.#taken += 1;
    return id;
  }

  get(id: string): WorldSnapshot {
    const kept = this.#byId.get(id);
    if (!kept) throw new Error(`Snapshot ${JSON.stringify(id)} does not exist.`);
    return kept.snapshot;
  }

  /** Returns the snapshots in the order in which they were taken. */
  list(): KeptSnapshot[] {
    return Array.from(this.#byId, ([id, { snapshot, takenAt }]) => {
      return { id, takenAt, repositories: snapshot.repositories.contents.size };
    });
  }

  /** Removes a snapshot and frees what no world and no other snapshot shares. */
  remove(id: string): void {
    const { repositories } = this.get(id);
    this.#byId.delete(id);
    releaseRepositories(repositories, this.memory);
  }

  clear(): void {
    for (const id of this.#byId.keys()) this.remove(id);
  }
}
