/** Thrown by a write that exceeds the memory budget. The write has no visible effect. */
export class StoreFull extends Error {
  override readonly name = 'StoreFull';
  constructor(readonly limit: number) {
    super(`the memory limit of ${limit} bytes (--max-held-bytes) is reached`);
  }
}

/** Limit on allocated bytes. With a parent, the bytes also count against a limit shared by several stores. */
export class MemoryBudget {
  #used = 0;

  constructor(
    readonly limit: number,
    private readonly parent?: MemoryBudget | undefined,
  ) {}

  get used(): number {
    return this.#used;
  }

  /** Counts `bytes` more. Throws `StoreFull` and counts nothing if this budget or a parent would exceed its limit. */
  take(bytes: number): void {
    if (this.#used + bytes > this.limit) throw new StoreFull(this.limit);
    this.parent?.take(bytes);
    this.#used += bytes;
  }

  /**
   * Converts `bytes` counted by this budget into shared bytes. They remain counted in the parent budget. `below`:
   * shared bytes that the new ones keep alive.
   */
  share(bytes: number, below?: SharedBytes): SharedBytes {
    const shared = Math.min(bytes, this.#used);
    this.#used -= shared;
    return new SharedBytes(shared, this.parent, below);
  }

  /** Releases at most the bytes that are counted. A store that was released as a whole has nothing left to release. */
  give(bytes: number): void {
    const given = Math.min(bytes, this.#used);
    this.parent?.give(given);
    this.#used -= given;
  }
}

/** Reference-counted bytes shared by several holders. They are counted once and released with the last holder. */
export class SharedBytes {
  /** These bytes plus those of `below`. */
  readonly total: number;
  #holders = 1;

  /** `below`: bytes that stay counted as long as these are. */
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
