/** Thrown by a write that the memory budget has no room for. Nothing of it becomes visible. */
export class StoreFull extends Error {
  override readonly name = 'StoreFull';
  constructor(readonly limit: number) {
    super(`the memory budget of ${limit} bytes is used up`);
  }
}

/** A limit on held bytes; with a parent, part of a limit that several stores share. */
export class MemoryBudget {
  #used = 0;

  constructor(
    readonly limit: number,
    private parent?: MemoryBudget | undefined,
  ) {}

  get used(): number {
    return this.#used;
  }

  /** Throws `StoreFull`, having taken nothing, when `bytes` more are too many here or above. */
  take(bytes: number): void {
    if (this.#used + bytes > this.limit) throw new StoreFull(this.limit);
    this.parent?.take(bytes);
    this.#used += bytes;
  }

  /** Counts as part of `parent` from now on, also where that goes past its limit: then nothing more can be taken. */
  attach(parent: MemoryBudget): void {
    if (this.parent !== undefined) throw new Error('the budget is part of another one already');
    this.parent = parent;
    for (let above: MemoryBudget | undefined = parent; above; above = above.parent) above.#used += this.#used;
  }

  /** Gives back at most what was taken: of a store that was let go as a whole, nothing is left to be given. */
  give(bytes: number): void {
    const given = Math.min(bytes, this.#used);
    this.parent?.give(given);
    this.#used -= given;
  }
}
