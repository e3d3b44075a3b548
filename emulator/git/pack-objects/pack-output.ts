import { createHash, type Hash } from 'node:crypto';
import type { StoredObjects } from '../odb/stored-objects.js';

/**
 * Capacity in bytes of the buffers in which small pieces of a pack are collected. The first buffer is smaller, because
 * a small pack needs only one.
 */
const GATHERED = 64 * 1024;
const FIRST_GATHERED = 4 * 1024;
/** Minimum length in bytes of a range of stored pack bytes that is sent from where it is stored, without copying. */
const LONG_RUN = 16 * 1024;
/** Maximum length in bytes of a piece that `take` yields. */
const LONGEST = 256 * 1024;
const HEADER_BYTES = 12;

/**
 * Collects the bytes of a pack that is sent to a client: header, entries, checksum. Adjacent ranges of stored bytes are
 * merged into one range ("run"), which is sent without copying if it is long. Small pieces are copied into one buffer.
 * All of them are queued until the caller calls `take`.
 */
export class PackOutput {
  /** Number of bytes of the pack that were added so far, which is the offset of the next entry. */
  position = HEADER_BYTES;
  readonly #sha1: Hash = createHash('sha1');
  #ready: Buffer[] = [];
  #readyBytes = 0;
  #gathered = Buffer.allocUnsafe(FIRST_GATHERED);
  #used = 0;
  /**
   * Range of stored bytes that is added to the queue next: segment number, start, and end (exclusive). Empty if
   * `#runStart` equals `#runEnd`.
   */
  #segment = -1;
  #runStart = 0;
  #runEnd = 0;

  constructor(
    private readonly objects: StoredObjects,
    count: number,
  ) {
    const header = Buffer.alloc(HEADER_BYTES);
    header.write('PACK', 'latin1');
    header.writeUInt32BE(2, 4);
    header.writeUInt32BE(count, 8);
    this.#gather(header, 0, HEADER_BYTES);
  }

  /** True if at least `LONGEST` bytes are queued, so that the caller should call `take`. */
  get isFull(): boolean {
    return this.#readyBytes + this.#runEnd - this.#runStart >= LONGEST;
  }

  /**
   * Adds bytes to the pack. Short buffers are copied. Long ones are queued as they are, so the caller must not change
   * them.
   */
  copy(bytes: Buffer): void {
    this.#closeRun();
    this.position += bytes.length;
    if (bytes.length >= LONG_RUN) this.#hand(bytes);
    else this.#gather(bytes, 0, bytes.length);
  }

  /**
   * Adds the first `length` bytes of a buffer with an entry header. The bytes are copied, so the buffer may be reused.
   */
  copyHeader(header: Buffer, length: number): void {
    this.#closeRun();
    this.position += length;
    this.#gather(header, 0, length);
  }

  /** Adds the bytes from `start` to `end` (exclusive) of a segment, in which received packs are stored. */
  copyStored(segment: number, start: number, end: number): void {
    this.position += end - start;
    if (segment !== this.#segment || start !== this.#runEnd) {
      this.#closeRun();
      this.#segment = segment;
      this.#runStart = start;
    }
    this.#runEnd = end;
  }

  /** Yields the queued bytes of the pack in pieces, and empties the queue. */
  *take(): Generator<Buffer> {
    this.#closeRun();
    const ready = this.#ready;
    this.#ready = [];
    this.#readyBytes = 0;
    for (const bytes of ready) {
      for (let at = 0; at < bytes.length; at += LONGEST) {
        const piece = bytes.subarray(at, at + LONGEST);
        this.#sha1.update(piece);
        yield piece;
      }
    }
  }

  /** Yields the remaining bytes of the pack, and its checksum as a piece of its own. */
  *end(): Generator<Buffer> {
    this.#closeRun();
    this.#handGathered();
    yield* this.take();
    yield this.#sha1.digest();
  }

  #closeRun(): void {
    if (this.#runEnd === this.#runStart) return;
    const segment = this.objects.segmentAt(this.#segment);
    const isLong = this.#runEnd - this.#runStart >= LONG_RUN;
    while (this.#runStart < this.#runEnd) {
      const { slab, start, end } = segment.pieceAt(this.#runStart, this.#runEnd);
      if (isLong) this.#hand(slab.subarray(start, end));
      else this.#gather(slab, start, end);
      this.#runStart += end - start;
    }
  }

  #hand(bytes: Buffer): void {
    this.#handGathered();
    this.#ready.push(bytes);
    this.#readyBytes += bytes.length;
  }

  #gather(bytes: Buffer, start: number, end: number): void {
    if (this.#used + end - start > this.#gathered.length) this.#handGathered();
    this.#used += bytes.copy(this.#gathered, this.#used, start, end);
  }

  #handGathered(): void {
    if (this.#used === 0) return;
    const bytes = this.#gathered.subarray(0, this.#used);
    this.#ready.push(bytes);
    this.#readyBytes += bytes.length;
    this.#gathered = Buffer.allocUnsafe(GATHERED);
    this.#used = 0;
  }
}
