import { createHash, type Hash } from 'node:crypto';
import type { StoredObjects } from '../odb/stored-objects.js';

/** Small pieces are gathered up to this many bytes; the first of them, which may be all, to fewer. */
const GATHERED = 64 * 1024;
const FIRST_GATHERED = 4 * 1024;
/** A run of stored bytes from this length on is handed out as it lies, without a copy. */
const LONG_RUN = 16 * 1024;
/** The longest piece handed out. */
const LONGEST = 256 * 1024;
const HEADER_BYTES = 12;

/**
 * The bytes of a pack under way: header, entries, checksum. Stored bytes that follow each other in
 * their segment become one run; runs and gathered small pieces wait to be taken.
 */
export class PackOutput {
  /** Bytes of the pack so far. */
  position = HEADER_BYTES;
  readonly #sha1: Hash = createHash('sha1');
  #ready: Buffer[] = [];
  #readyBytes = 0;
  #gathered = Buffer.allocUnsafe(FIRST_GATHERED);
  #used = 0;
  /** The stored bytes that come next: segment, first and last plus one. */
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

  /** Whether enough waits to be worth taking. */
  get isFull(): boolean {
    return this.#readyBytes + this.#runEnd - this.#runStart >= LONGEST;
  }

  /** Adds bytes that are copied, or kept when they are long. */
  copy(bytes: Buffer): void {
    this.#closeRun();
    this.position += bytes.length;
    if (bytes.length >= LONG_RUN) this.#hand(bytes);
    else this.#gather(bytes, 0, bytes.length);
  }

  /** Adds the first `length` bytes of a header, which may change afterwards. */
  copyHeader(header: Buffer, length: number): void {
    this.#closeRun();
    this.position += length;
    this.#gather(header, 0, length);
  }

  /** Adds stored bytes. */
  copyStored(segment: number, start: number, end: number): void {
    this.position += end - start;
    if (segment !== this.#segment || start !== this.#runEnd) {
      this.#closeRun();
      this.#segment = segment;
      this.#runStart = start;
    }
    this.#runEnd = end;
  }

  /** Hands out what waits. */
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

  /** Hands out the rest and the checksum. */
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
