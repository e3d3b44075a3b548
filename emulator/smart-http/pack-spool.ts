/**
 * A pack that has arrived. It is received before the repository is locked for writing, so that a slow
 * or silent client holds up nobody, and one that leaves has touched nothing.
 */
export class PackSpool {
  readonly #pieces: (Uint8Array | undefined)[] = [];
  #bytes = 0;

  private constructor(private readonly most: number) {}

  /** Reads `source` to its end. What comes after `most` bytes is read, so that the client can hear why, and dropped. */
  static async fill(source: AsyncIterable<Uint8Array>, most: number): Promise<PackSpool> {
    const spool = new PackSpool(most);
    for await (const piece of source) {
      spool.#bytes += piece.length;
      if (spool.isTooLarge) spool.#pieces.length = 0;
      else spool.#pieces.push(piece);
    }
    return spool;
  }

  get isTooLarge(): boolean {
    return this.#bytes > this.most;
  }

  /** Hands out the pieces once, letting go of each. */
  async *drain(): AsyncIterable<Uint8Array> {
    for (let index = 0; index < this.#pieces.length; index++) {
      const piece = this.#pieces[index]!;
      this.#pieces[index] = undefined;
      yield piece;
    }
    this.#pieces.length = 0;
  }
}
