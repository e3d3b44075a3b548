import { lastUpTo } from '../../memory/sorted.js';

const FIRST_SLAB = 4 * 1024;
const LARGEST_SLAB = 4 * 1024 * 1024;
/**
 * Size in bytes of the later slabs of a temporary segment, after the first 4 MiB. The C library returns a block of more
 * than 32 MiB to the operating system when it is freed. Smaller blocks between permanent slabs would leave gaps. Only
 * the used pages of a slab take memory.
 */
const TEMPORARY_SLAB = 33 * 1024 * 1024;

/**
 * Contiguous bytes of a segment (append-only byte sequence). They are the bytes `start` to `end` (exclusive) of the
 * buffer `slab`.
 */
export interface Piece {
  readonly slab: Buffer;
  readonly start: number;
  readonly end: number;
}

/**
 * Append-only byte sequence in memory. It contains a received pack, or the objects that were created through the HTTP
 * API. Its buffers ("slabs") double in size, so it grows without copying and without a known final length.
 */
export class Segment {
  readonly #slabs: Buffer[] = [];
  /** Offset in the segment at which each slab starts. */
  readonly #starts: number[] = [];
  #length = 0;
  #held = 0;

  /**
   * `onHold` is called with the number of bytes that were allocated; a negative number means released bytes. It counts
   * the bytes against a memory limit, and may throw to refuse an allocation. `isTemporary` is true for a segment that
   * is released at the end of an operation.
   */
  constructor(
    private readonly onHold: (bytes: number) => void,
    private readonly isTemporary = false,
  ) {}

  get length(): number {
    return this.#length;
  }

  /** Appends a copy of `bytes`. The copy may be split across several slabs (buffers of the segment). */
  append(bytes: Uint8Array): void {
    let from = 0;
    while (from < bytes.length) {
      let room = this.#room();
      if (room === 0) {
        this.#addSlab(1);
        room = this.#room();
      }
      const count = Math.min(room, bytes.length - from);
      const slab = this.#slabs.at(-1)!;
      slab.set(bytes.subarray(from, from + count), this.#length - this.#starts.at(-1)!);
      from += count;
      this.#length += count;
    }
  }

  /** Appends `bytes` without copying. The caller must not change the buffer afterwards. */
  adopt(bytes: Buffer): void {
    this.seal();
    this.#hold(bytes.length);
    this.#slabs.push(bytes);
    this.#starts.push(this.#length);
    this.#length += bytes.length;
  }

  /** Reserves `count` contiguous bytes at the end of the segment. The caller must fill them. */
  reserve(count: number): Piece {
    if (this.#room() < count) {
      this.#closeSlab();
      this.#addSlab(count);
    }
    const slab = this.#slabs.at(-1)!;
    const start = this.#length - this.#starts.at(-1)!;
    this.#length += count;
    return { slab, start, end: start + count };
  }

  /** Returns the longest contiguous piece that starts at offset `from` of the segment and ends at or before `to`. */
  pieceAt(from: number, to: number): Piece {
    const index = lastUpTo(this.#starts, from);
    const slab = this.#slabs[index]!;
    const base = this.#starts[index]!;
    return { slab, start: from - base, end: Math.min(to - base, slab.length) };
  }

  /**
   * Returns the bytes `from` to `to` (exclusive) of the segment. This is a view if they are in one slab, otherwise a
   * copy.
   */
  bytes(from: number, to: number): Buffer {
    if (from === to) return Buffer.alloc(0);
    const piece = this.pieceAt(from, to);
    if (piece.end - piece.start === to - from) return piece.slab.subarray(piece.start, piece.end);
    return Buffer.concat([...this.views(from, to)]);
  }

  /** Yields the bytes `from` to `to` (exclusive) of the segment as views of its memory, one view per slab. */
  *views(from: number, to: number): Generator<Buffer> {
    for (let at = from; at < to; ) {
      const { slab, start, end } = this.pieceAt(at, to);
      yield slab.subarray(start, end);
      at += end - start;
    }
  }

  /** Shortens the segment to `length` bytes, and releases the slabs (buffers) after them. */
  truncate(length: number): void {
    while (this.#slabs.length > 0 && this.#starts.at(-1)! >= length) {
      this.#hold(-this.#slabs.pop()!.length);
      this.#starts.pop();
    }
    this.#length = length;
  }

  /**
   * Returns a read-only segment with the first `length` bytes. Both segments share the slabs (buffers); later appended
   * bytes never overwrite the first `length` bytes. The memory is counted only for this segment.
   */
  upTo(length: number): Segment {
    const part = new Segment(() => undefined);
    for (const [index, slab] of this.#slabs.entries()) {
      if (this.#starts[index]! >= length) break;
      part.#slabs.push(slab);
      part.#starts.push(this.#starts[index]!);
    }
    part.#length = length;
    return part;
  }

  /**
   * Releases the unused end of the last slab (buffer of the segment). Its content is copied into a buffer of the exact
   * size. Later bytes go into a new slab.
   */
  seal(): void {
    const index = this.#slabs.length - 1;
    if (index < 0 || this.#room() === 0) return;
    const slab = this.#slabs[index]!;
    const used = this.#length - this.#starts[index]!;
    const exact = Buffer.allocUnsafeSlow(used);
    slab.copy(exact, 0, 0, used);
    this.#slabs[index] = exact;
    this.#hold(used - slab.length);
  }

  #room(): number {
    const index = this.#slabs.length - 1;
    return index < 0 ? 0 : this.#starts[index]! + this.#slabs[index]!.length - this.#length;
  }

  /**
   * Counts the unused end of the last slab (buffer) as a part of the segment. Offsets must not have gaps between slabs.
   */
  #closeSlab(): void {
    this.#length += this.#room();
  }

  #addSlab(atLeast: number): void {
    const doubled = Math.min(LARGEST_SLAB, Math.max(FIRST_SLAB, this.#held));
    const usual = this.isTemporary && doubled === LARGEST_SLAB ? TEMPORARY_SLAB : doubled;
    const size = Math.max(usual, atLeast);
    this.#hold(size);
    this.#slabs.push(Buffer.allocUnsafeSlow(size));
    this.#starts.push(this.#length);
  }

  #hold(bytes: number): void {
    this.onHold(bytes);
    this.#held += bytes;
  }
}
