const LEAST = 4 * 1024;

/**
 * Bytes that arrive in pieces. A client that sends them one by one makes a piece of each: kept as they are, they would
 * take a hundred times their size. So what follows the first is copied behind it.
 */
export class GatheredBytes {
  #bytes: Buffer = Buffer.alloc(0);
  length = 0;

  add(piece: Buffer): void {
    if (this.length === 0) this.#bytes = piece;
    else if (piece.length > 0) this.#append(piece);
    this.length += piece.length;
  }

  /** All of them, which from now on are the caller's. */
  take(): Buffer {
    const all = this.#bytes.subarray(0, this.length);
    this.#bytes = Buffer.alloc(0);
    this.length = 0;
    return all;
  }

  /** The first piece is the caller's memory, and full: what is appended goes into our own. */
  #append(piece: Buffer): void {
    const length = this.length + piece.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, this.length * 2, LEAST));
      this.#bytes.copy(larger, 0, 0, this.length);
      this.#bytes = larger;
    }
    piece.copy(this.#bytes, this.length);
  }
}
