import { createHash, type Hash } from 'node:crypto';
import type { StoredObjects } from '../odb/stored-objects.js';

/**
 * Size in bytes of the buffers that collect small pieces of a pack. The first buffer has the size `FIRST_GATHERED`,
 * which is enough for a small pack.
 */
const GATHERED = 64 * 1024;
const FIRST_GATHERED = 4 * 1024;
/** Minimum length in bytes of data that is sent without copying. Shorter data is collected in a buffer. */
const LONG_RUN = 16 * 1024;
/** Maximum length in bytes of a piece from `take`. `isFull` becomes true at the same number of queued bytes. */
const LONGEST = 256 * 1024;
const HEADER_BYTES = 12;

/**
 * Queue for the bytes of a pack that is sent to a client: header, entries, checksum. Adjacent ranges of stored bytes
 * are merged into one range ("run"). A long run is sent without copying, and small pieces are copied into one buffer.
 * `take` empties the queue.
 */
export class PackOutput {
  /** Number of bytes added to the pack so far. The next entry starts at this offset. */
  position = HEADER_BYTES;
  readonly #sha1: Hash = createHash('sha1');
  #ready: Buffer[] = [];
  #readyBytes = 0;
  #gathered = Buffer.allocUnsafe(FIRST_GATHERED);
  #used = 0;
  /**
   * Range of stored bytes that is not queued yet, because the next range may extend it. `#segment` is the number of its
   * segment (memory of a received pack). `#runStart` and `#runEnd` (exclusive) are its ends; they are equal if the
   * range is empty.
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

  /** True if at least `LONGEST` bytes wait to be sent. The caller should then call `take`. */
  get isFull(): boolean {
    return this.#readyBytes + this.#runEnd - this.#runStart >= LONGEST;
  }

  /**
   * Adds bytes to the pack. Short buffers are copied. Long buffers are not copied, so the caller must not change them
   * afterwards.
   */
  copy(bytes: Buffer): void {
    this.#closeRun();
    this.position += bytes.length;
    if (bytes.length >= LONG_RUN) this.#hand(bytes);
    else this.#gather(bytes, 0, bytes.length);
  }

  /**
   * Adds an entry header: the first `length` bytes of `header`. They are copied, so the caller may reuse the buffer.
   */
  copyHeader(header: Buffer, length: number): void {
    this.#closeRun();
    this.position += length;
    this.#gather(header, 0, length);
  }

  /**
   * Adds stored bytes: those from `start` to `end` (exclusive) of the segment (memory of a received pack) with this
   * number.
   */
  copyStored(segment: number, start: number, end: number): void {
    this.position += end - start;
    if (segment !== this.#segment || start !== this.#runEnd) {
      this.#closeRun();
      this.#segment = segment;
      this.#runStart = start;
    }
    this.#runEnd = end;
  }

  /** Yields the queued bytes of the pack in pieces of at most `LONGEST` bytes, and empties the queue. */
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

  /** Yields the remaining bytes of the pack, then its checksum as a separate piece. */
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
