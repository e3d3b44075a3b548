import { createHash } from 'node:crypto';
import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import type { StoreLimits } from '../limits/store-limits.js';
import { BLOB, type TypeCode, typeName } from '../object/object.js';
import { EntryHeader, LONGEST_HEADER, OFS_DELTA, REF_DELTA } from '../pack/entry-header.js';
import { FEED_BYTES, InflateError, type Inflater } from '../pack/inflater.js';
import { PackError } from '../pack/pack-error.js';
import type { Segment } from '../pack/segment.js';
import { NONE, type PackEntries } from './pack-entries.js';

const HEADER_BYTES = 12;
const TRAILER_BYTES = 20;
/**
 * Number of work units (microseconds of CPU time) after which `run` yields at once. Otherwise, it yields every 16
 * steps.
 */
const LONG_STEPS = 250;

/**
 * Receiver of the entries of a pack. One of its methods is called for each entry as soon as the entry's data is
 * complete. The output of the inflater then contains the inflated data.
 */
export interface ScanSink {
  /** Called before the first entry with the number of entries according to the header of the pack. */
  announce(entries: number): void;
  /**
   * Called for an object that is not a delta. `entry` is its index in `PackEntries`. `end` is the offset in the pack at
   * which the entry ends.
   */
  whole(entry: number, type: TypeCode, end: number): Steps<void>;
  delta(entry: number): void;
}

type State = 'header' | 'entry' | 'data' | 'trailer' | 'end';

/**
 * Parses a pack while it is received, in this format (gitformat-pack):
 *
 *     "PACK", version 2 or 3 (4 bytes), number of entries (4 bytes), the entries, SHA-1 of all bytes before it
 *
 * Received bytes are first appended to the segment (memory in which the pack is stored) and then read from it. The pack
 * is therefore in memory only once. `run` parses all bytes received so far.
 */
export class PackScan {
  readonly #header = new EntryHeader();
  readonly #sha1 = createHash('sha1');
  #state: State = 'header';
  /** Progress in bytes: number of bytes parsed (`#at`), and number of bytes in the computed checksum (`#hashed`). */
  #at = 0;
  #hashed = 0;
  /** Total inflated size in bytes of all entries so far, according to their headers. */
  inflated = 0;
  /** Offset in the pack at which the entries end and the checksum starts; 0 before the checksum has been read. */
  entriesEnd = 0;
  #isEnded = false;
  /** Work units (microseconds of CPU time) spent since the last yield of `run`. */
  #work = 0;

  constructor(
    private readonly entries: PackEntries,
    private readonly segment: Segment,
    private readonly inflater: Inflater,
    private readonly limits: StoreLimits,
    private readonly sink: ScanSink,
  ) {}

  /** Adds a copy of received bytes to the pack. Throws `PackError` if the pack exceeds its size limit. */
  push(bytes: Uint8Array): void {
    this.#checkLimit(bytes.length);
    this.segment.append(bytes);
  }

  /**
   * Adds received bytes to the pack without copying them. The caller must not change the buffer afterwards. Throws
   * `PackError` if the pack exceeds its size limit.
   */
  adopt(bytes: Buffer): void {
    this.#checkLimit(bytes.length);
    this.segment.adopt(bytes);
  }

  #checkLimit(more: number): void {
    if (this.segment.length + more <= this.limits.packBytes) return;
    throw new PackError('limit', `pack exceeds maximum allowed size (${this.limits.packBytes} bytes)`);
  }

  /**
   * Parses the bytes received so far, and yields between pieces of work. The checksum is updated during parsing,
   * because computing it at the end would block the event loop for a long time.
   */
  *run(): Steps<void> {
    for (let steps = 1; yield* this.#step(); steps++) {
      if (this.#at - this.#hashed >= FEED_BYTES) this.#hashUntil(this.#at);
      if ((steps & 15) !== 0 && this.#work < LONG_STEPS) continue;
      yield this.#work;
      this.#work = 0;
    }
  }

  /** Parses the next part of the pack. Returns false if this part is not complete yet, or if the pack has ended. */
  *#step(): Steps<boolean> {
    switch (this.#state) {
      case 'header':
        return this.#readHeader();
      case 'entry':
        return this.#readEntryHeader();
      case 'data':
        return yield* this.#readData();
      case 'trailer':
        return this.#readTrailer();
      case 'end':
        if (this.segment.length > this.#at) throw new PackError('corrupt', 'pack has junk at the end');
        return false;
    }
  }

  /** Records that no more bytes follow. The caller must call `run` once more, which then detects truncated data. */
  end(): void {
    this.#isEnded = true;
  }

  /** Throws `PackError` if the pack is incomplete. Call it after the last `run`. */
  verifyEnd(): void {
    if (this.#state === 'end') return;
    throw new PackError('corrupt', this.#state === 'header' ? 'eof before pack header was fully read' : 'early EOF');
  }

  /** Adds the bytes up to offset `end` of the pack to the checksum. */
  #hashUntil(end: number): void {
    for (const view of this.segment.views(this.#hashed, end)) this.#sha1.update(view);
    this.#work += (end - this.#hashed) * COST.byteHashed;
    this.#hashed = end;
  }

  #readHeader(): boolean {
    if (this.segment.length < HEADER_BYTES) return false;
    const header = this.segment.bytes(0, HEADER_BYTES);
    if (header.toString('latin1', 0, 4) !== 'PACK') throw new PackError('corrupt', 'pack signature mismatch');
    const version = header.readUInt32BE(4);
    if (version !== 2 && version !== 3) throw new PackError('corrupt', `pack version ${version} unsupported`);
    const announced = header.readUInt32BE(8);
    if (announced > this.limits.objects) {
      throw new PackError('limit', `pack has ${announced} objects, more than the limit of ${this.limits.objects}`);
    }
    this.entries.announced = announced;
    this.sink.announce(announced);
    this.#at = HEADER_BYTES;
    return this.#nextEntry();
  }

  #nextEntry(): boolean {
    this.#state = this.entries.count < this.entries.announced ? 'entry' : 'trailer';
    return true;
  }

  #readEntryHeader(): boolean {
    const { segment, limits } = this;
    const header = this.#header;
    const start = this.#at;
    const piece = segment.pieceAt(start, segment.length);
    let bytes = piece.slab;
    let at = piece.start;
    let limit = piece.end;
    if (limit - at < LONGEST_HEADER) {
      bytes = segment.bytes(start, Math.min(segment.length, start + LONGEST_HEADER));
      at = 0;
      limit = bytes.length;
    }
    const issue = header.parse(bytes, at, limit);
    if (issue === undefined) return false;
    if (issue !== '') throw PackError.at(start, issue);
    if (header.size > limits.objectBytes) throw PackError.tooLarge('object', header.size, limits.objectBytes);
    if (!header.isDelta && header.type !== BLOB && header.size > limits.structureBytes) {
      throw PackError.tooLarge(typeName(header.type as TypeCode), header.size, limits.structureBytes);
    }
    this.inflated += header.size;
    if (this.inflated > limits.inflatedBytes) {
      throw new PackError('limit', `pack inflates to more than the limit of ${limits.inflatedBytes} bytes`);
    }
    const entry = this.entries.add(start);
    this.entries.sizes[entry] = header.size;
    this.#at = start + header.end - at;
    this.entries.dataStarts[entry] = this.#at;
    if (header.type === OFS_DELTA) {
      const base = header.distance > start ? NONE : this.entries.startingAt(start - header.distance);
      if (base === NONE) throw PackError.at(start, 'delta base offset is out of bound');
      this.entries.addOfsDelta(entry, base);
    } else if (header.type === REF_DELTA) {
      this.entries.addRefDelta(entry, bytes, header.baseAt);
    }
    this.inflater.start(header.size);
    this.#state = 'data';
    return true;
  }

  *#readData(): Steps<boolean> {
    const left = this.segment.length - this.#at;
    if (left === 0 && !this.inflater.hasMore && !this.#isEnded) return false;
    if (!this.#feed(left)) return left > 0 || this.inflater.hasMore;
    const entry = this.entries.count - 1;
    if (this.inflater.size !== this.#header.size) {
      throw PackError.at(this.entries.offsets[entry]!, 'serious inflate inconsistency');
    }
    this.#state = 'entry';
    if (this.#header.isDelta) this.sink.delta(entry);
    else yield* this.sink.whole(entry, this.#header.type as TypeCode, this.#at);
    return this.#nextEntry();
  }

  /**
   * Passes at most the next `count` bytes of compressed data to the inflater. An empty piece tells the inflater that no
   * more data follows. Returns true if the compressed data of the entry has ended.
   */
  #feed(count: number): boolean {
    const { slab, start, end } = this.segment.pieceAt(this.#at, this.#at + Math.min(count, FEED_BYTES));
    const before = this.inflater.size;
    try {
      this.#at += this.inflater.feed(slab, start, end);
      this.#work += COST.entry + (this.inflater.size - before) * COST.byteInflated;
    } catch (error) {
      if (!(error instanceof InflateError)) throw error;
      throw PackError.at(this.entries.offsets[this.entries.count - 1]!, error.message);
    }
    return this.inflater.isDone;
  }

  #readTrailer(): boolean {
    if (this.segment.length < this.#at + TRAILER_BYTES) return false;
    this.#hashUntil(this.#at);
    this.entriesEnd = this.#at;
    const trailer = this.segment.bytes(this.entriesEnd, this.entriesEnd + TRAILER_BYTES);
    if (!this.#sha1.digest().equals(trailer)) throw new PackError('corrupt', 'pack is corrupted (SHA1 mismatch)');
    this.#at += TRAILER_BYTES;
    this.#state = 'end';
    return true;
  }
}
