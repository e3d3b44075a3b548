import type { LfsObjects } from '../repositories/lfs-objects.js';
import type { KeptContent } from './repositories.js';
import type { WorldSnapshot } from './state.js';

/** Snapshots kept at a time: each holds on to what it has seen. */
const MOST_SNAPSHOTS = 1_000;

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
  readonly #byId = new Map<string, WorldSnapshot>();
  readonly #takenAt = new Map<string, number>();
  #taken = 0;

  get hasRoom(): boolean {
    return this.#byId.size < MOST_SNAPSHOTS;
  }

  /** Keeps a snapshot that was taken at `time`, in milliseconds, and names it. */
  keep(snapshot: WorldSnapshot, time: number): string {
    if (!this.hasRoom) throw new Error(`There are ${MOST_SNAPSHOTS} snapshots already.`);
    this.#taken += 1;
    const id = `snapshot-${this.#taken}`;
    this.#byId.set(id, snapshot);
    this.#takenAt.set(id, time);
    for (const { content } of snapshot.repositories.contents.values()) content.snapshots++;
    return id;
  }

  get(id: string): WorldSnapshot {
    const snapshot = this.#byId.get(id);
    if (!snapshot) throw new Error(`There is no snapshot ${JSON.stringify(id)}.`);
    return snapshot;
  }

  /** In the order in which they were taken. */
  list(): KeptSnapshot[] {
    return Array.from(this.#byId, ([id, { repositories }]) => ({
      id,
      takenAt: this.#takenAt.get(id)!,
      repositories: repositories.contents.size,
    }));
  }

  /** Lets go of a snapshot, which it returns. Throws when there is no such snapshot. */
  remove(id: string): WorldSnapshot {
    const snapshot = this.get(id);
    this.#byId.delete(id);
    this.#takenAt.delete(id);
    for (const { content } of snapshot.repositories.contents.values()) content.snapshots--;
    return snapshot;
  }

  /** Puts other contents with the same objects into a snapshot. */
  replaceContents(id: string, contents: ReadonlyMap<string, KeptContent>): WorldSnapshot {
    const before = this.get(id);
    const after = { ...before, repositories: { ...before.repositories, contents } };
    for (const { content } of contents.values()) content.snapshots++;
    for (const { content } of before.repositories.contents.values()) content.snapshots--;
    this.#byId.set(id, after);
    return after;
  }

  *lfsObjects(): IterableIterator<LfsObjects> {
    for (const { repositories } of this.#byId.values()) {
      for (const { lfsObjects } of repositories.records.byId.values()) if (lfsObjects) yield lfsObjects;
    }
  }
}
