import type { MemoryBudget } from '../git/memory/memory-budget.js';
import { releaseRepositories } from './repositories.js';
import type { WorldSnapshot } from './state.js';

/** Snapshots kept at a time: each holds on to what it has seen. */
const MOST_SNAPSHOTS = 1_000;

/** Snapshots by id. What is in one counts as held, also when the world has let go of it. */
export class Snapshots {
  readonly #byId = new Map<string, WorldSnapshot>();
  #taken = 0;

  constructor(private readonly memory: MemoryBudget) {}

  /** Keeps a snapshot, which `take` takes, and names it. */
  keep(take: () => WorldSnapshot): string {
    if (this.#byId.size >= MOST_SNAPSHOTS) throw new Error(`There are ${MOST_SNAPSHOTS} snapshots already.`);
    this.#taken += 1;
    const id = `snapshot-${this.#taken}`;
    this.#byId.set(id, take());
    return id;
  }

  ids(): string[] {
    return [...this.#byId.keys()];
  }

  get(id: string): WorldSnapshot {
    const snapshot = this.#byId.get(id);
    if (!snapshot) throw new Error(`There is no snapshot ${JSON.stringify(id)}.`);
    return snapshot;
  }

  /** Lets go of a snapshot. What no world and no other snapshot has of it is free. */
  remove(id: string): void {
    const { repositories } = this.get(id);
    this.#byId.delete(id);
    releaseRepositories(repositories, this.memory);
  }

  clear(): void {
    for (const id of this.ids()) this.remove(id);
  }
}
