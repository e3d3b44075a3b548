/** Minimum capacity of the growing buffer, in bytes. */
const MIN_CAPACITY = 4 * 1024;

/**
 * Buffer for bytes that arrive in pieces. It copies the pieces into one growing buffer. A list of the pieces would take
 * a hundred times the memory of their content if a client sends single bytes.
 */
export class GatheredBytes {
  #bytes: Buffer = Buffer.alloc(0);
  length = 0;

  add(piece: Buffer): void {
    if (this.length === 0) this.#bytes = piece;
    else if (piece.length > 0) this.#append(piece);
    this.length += piece.length;
  }

  /** Returns all bytes and empties the buffer. The caller owns the returned memory. */
  take(): Buffer {
    const all = this.#bytes.subarray(0, this.length);
    this.#bytes = Buffer.alloc(0);
    this.length = 0;
    return all;
  }

  /**
   * Appends a piece to at least one earlier piece. Allocates a larger buffer if necessary. The second piece always
   * causes an allocation, because the first piece is memory of the caller without spare capacity.
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
