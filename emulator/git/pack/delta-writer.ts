const LONGEST_INSERT = 0x7f;
/** Longest copy instruction. Git never writes a longer one, and its older readers do not support one. */
const LONGEST_COPY = 0x10000;
/** Maximum bytes of the two sizes at the start of a delta, or of one instruction without its data. */
const LONGEST_HEAD = 16;
const FIRST_OUTPUT = 512;

/** Writes a delta of at most `most` bytes. The format is quoted in patch-delta.ts. */
export class DeltaWriter {
  #output = Buffer.allocUnsafe(FIRST_OUTPUT);
  #length = 0;
  isTooLong = false;

  constructor(private readonly most: number) {}

  /** Writes the sizes of base and target. Must be called first. */
  sizes(base: number, target: number): void {
    for (const size of [base, target]) {
      let rest = size;
      for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.#output[this.#length++] = (rest & 0x7f) | 0x80;
      this.#output[this.#length++] = rest;
    }
  }

  /** Writes bytes `from` to `to` of `text` as insert instructions. */
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
    // The size 0x10000 is written as 0, that is, without size bytes.
    for (let byte = 0; byte < 2; byte++) {
      const value = (length >>> (byte * 8)) & 0xff;
      if (value === 0) continue;
      op |= 0x10 << byte;
      output[this.#length++] = value;
    }
    output[opAt] = op;
  }

  /** Returns true if at least `bytes` more bytes stay within the limit. Then grows the output so that they fit. */
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
