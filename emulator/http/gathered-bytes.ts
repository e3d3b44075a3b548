/** Minimum capacity of the growing buffer, in bytes. */
const MIN_CAPACITY = 4 * 1024;

/**
 * Buffer for bytes that arrive in pieces, which it copies into one growing buffer. If a client sends single bytes, a
 * list of pieces would need a hundred times the memory of their content.
 */
export class GatheredBytes {
  #bytes: Buffer = Buffer.alloc(0);
  length = 0;

  add(piece: Buffer): void {
    if (this.length === 0) this.#bytes = piece;
    else if (piece.length > 0) this.#append(piece);
    this.length += piece.length;
  }

  /** Returns all bytes and empties the buffer. The caller owns the returned bytes. */
  take(): Buffer {
    const all = this.#bytes.subarray(0, this.length);
    this.#bytes = Buffer.alloc(0);
    this.length = 0;
    return all;
  }

  /**
   * Appends a piece and allocates a larger buffer if necessary. The second piece always needs an allocation, because
   * the first piece is the caller's memory and has no spare capacity.
   */
  #append(piece: Buffer): void {
    const length = this.length + piece.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, this.length * 2, MIN_CAPACITY));
      this.#bytes.copy(larger, 0, 0, this.length);
      this.#bytes = larger;
    }
    piece.copy(this.#bytes, this.length);
  }
}
