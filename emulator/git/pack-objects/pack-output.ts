import { createHash, type Hash } from 'node:crypto';
import type { StoredObjects } from '../odb/stored-objects.js';

/**
 * Maximum bytes of small pieces that are collected into one buffer. The first buffer is smaller, because it may be the
 * only one.
 */
const GATHERED = 64 * 1024;
const FIRST_GATHERED = 4 * 1024;
/** Minimum length in bytes of a run of stored bytes that is sent without copying. */
const LONG_RUN = 16 * 1024;
/** Maximum length in bytes of a piece. */
const LONGEST = 256 * 1024;
const HEADER_BYTES = 12;

/**
 * Produces the bytes of a pack: header, entries, checksum. Adjacent stored bytes of a segment are merged into one run.
 * Runs and collected small pieces are queued until `take`.
 */
export class PackOutput {
  /** Number of bytes of the pack so far. */
  position = HEADER_BYTES;
  readonly #sha1: Hash = createHash('sha1');
  #ready: Buffer[] = [];
  #readyBytes = 0;
  #gathered = Buffer.allocUnsafe(FIRST_GATHERED);
  #used = 0;
  /** Stored bytes to be sent next: segment number, start, and end (exclusive). */
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

  /** True if enough bytes are queued to be taken. */
  get isFull(): boolean {
    return this.#readyBytes + this.#runEnd - this.#runStart >= LONGEST;
  }

  /** Adds bytes. Short ones are copied; long ones must not change afterwards. */
  copy(bytes: Buffer): void {
    this.#closeRun();
    this.position += bytes.length;
    if (bytes.length >= LONG_RUN) this.#hand(bytes);
    else this.#gather(bytes, 0, bytes.length);
  }

  /** Adds the first `length` bytes of a header buffer. They are copied, so the buffer may be reused. */
  copyHeader(header: Buffer, length: number): void {
    this.#closeRun();
    this.position += length;
    this.#gather(header, 0, length);
  }

  /** Adds stored bytes of a segment. */
  copyStored(segment: number, start: number, end: number): void {
    this.position += end - start;
    if (segment !== this.#segment || start !== this.#runEnd) {
      this.#closeRun();
      this.#segment = segment;
      this.#runStart = start;
    }
    this.#runEnd = end;
  }

  /** Yields the queued bytes. */
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

  /** Yields the remaining bytes and the checksum. */
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
