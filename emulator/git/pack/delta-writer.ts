const LONGEST_INSERT = 0x7f;
/**
 * Maximum number of bytes copied by one copy instruction of a delta. Git never writes a longer copy, and its older
 * versions cannot read one.
 */
const LONGEST_COPY = 0x10000;
/**
 * Upper bound in bytes for the two sizes at the start of a delta. It is also an upper bound for one instruction without
 * its inserted data.
 */
const LONGEST_HEAD = 16;
const FIRST_OUTPUT = 512;

/**
 * Writer of a delta, which contains instructions to build a target from a base. The format is quoted in patch-delta.ts.
 * `most` is the maximum useful length of the delta in bytes. Beyond it, `isTooLong` becomes true and the rest is not
 * written.
 */
export class DeltaWriter {
  #output = Buffer.allocUnsafe(FIRST_OUTPUT);
  #length = 0;
  isTooLong = false;

  constructor(private readonly most: number) {}

  /** Writes the sizes of base and target in bytes. Must be called first. */
  sizes(base: number, target: number): void {
    for (const size of [base, target]) {
      let rest = size;
      for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.#output[this.#length++] = (rest & 0x7f) | 0x80;
      this.#output[this.#length++] = rest;
    }
  }

  /** Writes instructions that insert the bytes `from` to `to` (exclusive) of `text` into the target. */
  insert(text: Buffer, from: number, to: number): void {
    for (let at = from; at < to && this.#hasRoom(to - at); at += LONGEST_INSERT) {
      const count = Math.min(LONGEST_INSERT, to - at);
      this.#output[this.#length++] = count;
      text.copy(this.#output, this.#length, at, at + count);
      this.#length += count;
    }
  }

  copy(from: number, length: number): void {
    for (let done = 0; done < length && this.#hasRoom(0); done += LONGEST_COPY) {
      this.#copyOnce(from + done, Math.min(LONGEST_COPY, length - done));
    }
  }

  finish(): Buffer | undefined {
    return this.isTooLong || this.#length > this.most ? undefined : this.#output.subarray(0, this.#length);
  }

  #copyOnce(from: number, length: number): void {
    const output = this.#output;
    const opAt = this.#length++;
    let op = 0x80;
    for (let byte = 0; byte < 4; byte++) {
      const value = (from >>> (byte * 8)) & 0xff;
      if (value === 0) continue;
      op |= 1 << byte;
      output[this.#length++] = value;
    }
    // Two size bytes are enough. The largest size, 0x10000, is written as 0, which needs no size byte.
    for (let byte = 0; byte < 2; byte++) {
      const value = (length >>> (byte * 8)) & 0xff;
      if (value === 0) continue;
      op |= 0x10 << byte;
      output[this.#length++] = value;
    }
    output[opAt] = op;
  }

  /**
   * Returns true if the delta may grow by `bytes` bytes without exceeding its maximum length. The output is then
   * enlarged so that the next instruction fits.
   */
  #hasRoom(bytes: number): boolean {
    if (this.#length + bytes > this.most) this.isTooLong = true;
    if (this.isTooLong) return false;
    const needed = this.#length + Math.min(bytes, LONGEST_INSERT) + LONGEST_HEAD;
    if (needed > this.#output.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#output.length * 2));
      this.#output.copy(larger, 0, 0, this.#length);
      this.#output = larger;
    }
    return true;
  }
}
