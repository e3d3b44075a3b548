/** Error thrown by a write that would exceed the memory budget. The write then has no visible effect. */
export class StoreFull extends Error {
  override readonly name = 'StoreFull';
  constructor(readonly limit: number) {
    super(`the memory limit of ${limit} bytes (--max-held-bytes) is reached`);
  }
}

/**
 * Counter of allocated bytes with a limit. If it has a parent, the bytes also count against the parent's limit. Several
 * object stores can share a parent.
 */
export class MemoryBudget {
  #used = 0;

  constructor(
    readonly limit: number,
    private readonly parent?: MemoryBudget | undefined,
  ) {}

  get used(): number {
    return this.#used;
  }

  /**
   * Counts `bytes` as allocated. Throws `StoreFull` and counts nothing if this budget or a parent would exceed its
   * limit.
   */
  take(bytes: number): void {
    if (this.#used + bytes > this.limit) throw new StoreFull(this.limit);
    this.parent?.take(bytes);
    this.#used += bytes;
  }

  /**
   * Converts `bytes` that this budget counts into bytes that several holders share. The parent budget counts the shared
   * bytes until the last holder releases them. `below` are bytes that were shared earlier; they stay counted as long as
   * the new ones.
   */
  share(bytes: number, below?: SharedBytes): SharedBytes {
    const shared = Math.min(bytes, this.#used);
    this.#used -= shared;
    return new SharedBytes(shared, this.parent, below);
  }

  /**
   * Counts `bytes` as freed, but at most as many as are counted. The call has no effect after an object store was
   * released as a whole, because the budget counts no bytes then.
   */
  give(bytes: number): void {
    const given = Math.min(bytes, this.#used);
    this.parent?.give(given);
    this.#used -= given;
  }
}

/**
 * Bytes that several holders share, with a reference count. The budget counts the bytes once, until the last holder
 * releases them.
 */
export class SharedBytes {
  /** Number of these bytes plus the bytes that were shared earlier (`below`). */
  readonly total: number;
  #holders = 1;

  /**
   * Creates shared bytes with one holder. `below` are bytes that were shared earlier; they stay counted as long as
   * these.
   */
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
