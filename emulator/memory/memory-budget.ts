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
    private readonly parent?: MemoryBudget | undefined,
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

  /** Makes `bytes` that were taken here count as those of several. They stay part of what is used above. */
  share(bytes: number, below?: SharedBytes): SharedBytes {
    const shared = Math.min(bytes, this.#used);
    this.#used -= shared;
    return new SharedBytes(shared, this.parent, below);
  }

  /** Gives back at most what was taken: of a store that was let go as a whole, nothing is left to be given. */
  give(bytes: number): void {
    const given = Math.min(bytes, this.#used);
    this.parent?.give(given);
    this.#used -= given;
  }
}

/** Bytes that several hold at once: they count once, and are given back when the last holder releases them. */
export class SharedBytes {
  /** These bytes and those below. */
  readonly total: number;
  #holders = 1;

  /** `below`: bytes that are held for as long as these are. */
  constructor(
    private readonly bytes: number,
    private readonly budget: MemoryBudget | undefined,
    private readonly below?: SharedBytes,
  ) {
    this.total = bytes + (below?.total ?? 0);
    below?.hold();
  }

  hold(): this {
    this.#holders++;
    return this;
  }

  release(): void {
    for (let at: SharedBytes | undefined = this; at !== undefined && --at.#holders === 0; at = at.below) {
      at.budget?.give(at.bytes);
    }
  }
}
