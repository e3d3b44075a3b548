/** Error thrown by a write that would exceed the memory budget. The write then has no visible effect. */
export class StoreFull extends Error {
  override readonly name = 'StoreFull';
  constructor(readonly limit: number) {
    super(`the memory limit of ${limit} bytes (--max-held-bytes) is reached`);
  }
}

/**
 * Counter of allocated bytes with a limit. With a parent, the bytes also count against the limit of the parent, which
 * several object stores share.
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
   * Counts `bytes` as allocated. If this budget or a parent would exceed its limit, throws `StoreFull` and counts
   * nothing.
   */
  take(bytes: number): void {
    if (this.#used + bytes > this.limit) throw new StoreFull(this.limit);
    this.parent?.take(bytes);
    this.#used += bytes;
  }

  /**
   * Converts `bytes` that this budget counts into bytes that several holders share. They stay counted in the parent
   * budget until the last holder releases them. `below` contains bytes that were shared earlier, and that stay counted
   * as long as the new ones.
   */
  share(bytes: number, below?: SharedBytes): SharedBytes {
    const shared = Math.min(bytes, this.#used);
    this.#used -= shared;
    return new SharedBytes(shared, this.parent, below);
  }

  /**
   * Counts `bytes` as freed, but at most as many as are counted. A call has no effect after an object store was
   * released as a whole, because no bytes are counted then.
   */
  give(bytes: number): void {
    const given = Math.min(bytes, this.#used);
    this.parent?.give(given);
    this.#used -= given;
  }
}

/**
 * Bytes that several holders share, with a reference count. The budget counts them once, until the last holder releases
 * them.
 */
export class SharedBytes {
  /** Number of these bytes, plus the bytes that were shared earlier (`below`). */
  readonly total: number;
  #holders = 1;

  /**
   * Creates shared bytes with one holder. `below` contains bytes that were shared earlier, and that stay counted as
   * long as these.
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
