import { bufferWithRoom } from '../../memory/growable.js';
import type { ByteString } from '../object/bytes.js';

/** Maximum number of bytes that are copied in a loop. `Buffer.copy` is faster for longer data. */
const SHORT = 120;

/** Growable buffer for output that consists of many small pieces, such as a patch. */
export class ByteSink {
  #bytes: Buffer;
  #length = 0;

  constructor(expected = 1024) {
    this.#bytes = Buffer.allocUnsafe(expected);
  }

  get length(): number {
    return this.#length;
  }

  /** Appends text that consists of ASCII characters, such as an id or a number. */
  ascii(text: string): void {
    this.#reserve(text.length);
    this.#length += this.#bytes.write(text, this.#length, 'latin1');
  }

  bytes(value: ByteString): void {
    this.ascii(value);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  slice(source: Buffer, start = 0, end = source.length): void {
    this.#reserve(end - start);
    if (end - start > SHORT) {
      this.#length += source.copy(this.#bytes, this.#length, start, end);
      return;
    }
    const target = this.#bytes;
    let length = this.#length;
    for (let at = start; at < end; at++) target[length++] = source[at]!;
    this.#length = length;
  }

  /** Returns the written bytes without copying them. The sink must not be used afterwards. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(size: number): void {
    this.#bytes = bufferWithRoom(this.#bytes, this.#length + size);
  }
}
