import * as zlib from 'node:zlib';
import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { HEADROOM } from '../object/object-hash.js';
import type { Segment } from './segment.js';
import { handleOf, type ZlibHandle } from './zlib-handle.js';

/** Output a fresh inflater has room for, and the most it sets aside on the word of an entry header. */
const FIRST_OUTPUT = 64 * 1024;
/** Bytes of a stream taken at once, and the most that one call makes of them: a few kilobytes of zeros can be megabytes. */
export const FEED_BYTES = 256 * 1024;
const MOST_OUTPUT = 256 * 1024;
/** Output that has grown to this was not declared idly: from here on there is room for all of it, so that it is not copied again. */
const BELIEVED = 4 * 1024 * 1024;
/** Output kept between objects; what a larger one needed is given back. */
const KEPT_OUTPUT = 1024 * 1024;

const SYNC_FLUSH = zlib.constants.Z_SYNC_FLUSH;
const EMPTY = Buffer.alloc(0);

/** Thrown when bytes are no zlib stream, or one that inflates to more than was declared. */
export class InflateError extends Error {
  override readonly name = 'InflateError';
}

/**
 * Inflates zlib streams whose end is not known beforehand: `start`, then `feed` pieces until `isDone`.
 * The body is `output` from `HEADROOM` on, `size` bytes, until the next `start`.
 */
export abstract class Inflater {
  isDone = false;
  /** More is to be made of what was taken: `feed` has to be called again, with whatever bytes there are. */
  hasMore = false;
  output: Buffer = Buffer.allocUnsafeSlow(HEADROOM);
  size = 0;
  protected declared = 0;

  start(declaredSize: number): void {
    this.declared = declaredSize;
    this.size = 0;
    this.isDone = false;
    this.hasMore = false;
  }

  /** The body, which nothing overwrites any more. */
  takeOutput(): Buffer {
    const body = this.output.subarray(HEADROOM, HEADROOM + this.size);
    this.output = Buffer.allocUnsafeSlow(HEADROOM);
    return body;
  }

  /**
   * Takes bytes from `start` on, up to `end`, and returns how many; they belong to the stream. The end shows only once
   * a byte after it is there; a pack always has one. Without bytes, and with nothing more to make, it says that none
   * will follow.
   * Throws `InflateError`.
   */
  abstract feed(input: Buffer, start: number, end: number): number;
}

/**
 * One handle for every stream. A pack is many thousand small streams: with `inflateSync` each of them
 * costs 4 to 10 microseconds of set-up, this way 0.4 to 4. The handle is not public, hence the probe in
 * `createInflater`.
 */
export class HandleInflater extends Inflater {
  #error: string | undefined;
  #isFresh = true;
  readonly #stream = new zlib.Inflate();
  readonly #handle: ZlibHandle;
  /** After a write: bytes of output left, bytes of input left. */
  readonly #left: Uint32Array;

  constructor() {
    super();
    const { handle, left } = handleOf(this.#stream);
    this.#handle = handle;
    this.#left = left;
    this.#handle.onerror = (message, code) => {
      this.#error = `inflate returned ${code} (${message})`;
    };
  }

  override start(declaredSize: number): void {
    if (!this.#isFresh) this.#handle.reset();
    this.#isFresh = true;
    if (this.output.length > HEADROOM + KEPT_OUTPUT) this.output = Buffer.allocUnsafeSlow(HEADROOM + FIRST_OUTPUT);
    super.start(declaredSize);
  }

  override feed(input: Buffer, start: number, end: number): number {
    this.#isFresh = false;
    const limit = this.size + MOST_OUTPUT;
    let at = start;
    while ((at < end || this.hasMore) && this.size < limit) {
      const room = Math.min(this.#makeRoom(end - at), limit - this.size);
      this.#handle.writeSync(SYNC_FLUSH, input, at, end - at, this.output, HEADROOM + this.size, room);
      if (this.#error !== undefined) this.#fail(this.#error);
      const outputLeft = this.#left[0]!;
      at = end - this.#left[1]!;
      this.size += room - outputLeft;
      if (this.size > this.declared) this.#fail('serious inflate inconsistency');
      // A full output may have held back the rest.
      this.hasMore = outputLeft === 0;
      // Input and output are left: only the end of the stream explains both.
      if (outputLeft > 0 && at < end) {
        this.isDone = true;
        break;
      }
    }
    return at - start;
  }

  /**
   * Room for one byte more than is still expected: zlib stops short of its checksum when the output is
   * full. It grows with what arrives, never with what was declared.
   */
  #makeRoom(inputLeft: number): number {
    const wanted = this.declared - this.size + 1;
    const free = this.output.length - HEADROOM - this.size;
    if (free < wanted && free <= Math.min(inputLeft * 4, MOST_OUTPUT)) {
      const next =
        this.size < BELIEVED
          ? Math.max(this.size * 2, this.size + Math.min(inputLeft * 4, MOST_OUTPUT))
          : wanted + this.size;
      const length = Math.min(this.declared + 1, Math.max(next, FIRST_OUTPUT));
      this.output = withExactRoom(this.output, HEADROOM + length, HEADROOM + this.size);
    }
    return Math.min(wanted, this.output.length - HEADROOM - this.size);
  }

  #fail(reason: string): never {
    this.#error = undefined;
    throw new InflateError(reason);
  }
}

/** The same with nothing but documented calls: whole streams, tried again whenever the input has doubled. */
export class PlainInflater extends Inflater {
  #pieces: Buffer[] = [];
  #collected = 0;
  #nextTry = 0;

  override start(declaredSize: number): void {
    this.#pieces = [];
    this.#collected = 0;
    this.#nextTry = 0;
    super.start(declaredSize);
  }

  override feed(input: Buffer, start: number, end: number): number {
    const before = this.#collected;
    this.#pieces.push(Buffer.from(input.subarray(start, end)));
    this.#collected += end - start;
    // Trying is quadratic unless the input has doubled since; with little input that does not matter.
    if (this.#collected < this.#nextTry && start < end) return end - start;
    const whole = Buffer.concat(this.#pieces);
    this.#nextTry = whole.length < FIRST_OUTPUT ? 0 : whole.length * 2;
    const consumed = this.#inflate(whole);
    if (consumed < 0 || consumed === whole.length) return end - start;
    this.isDone = true;
    return consumed - before;
  }

  #inflate(whole: Buffer): number {
    try {
      const options = { info: true, maxOutputLength: this.declared + 1 };
      // `info` is documented; its types are not complete in every release.
      const { buffer, engine } = zlib.inflateSync(whole, options) as unknown as {
        buffer: Buffer;
        engine: { bytesWritten: number };
      };
      if (buffer.length > this.declared) throw new InflateError('serious inflate inconsistency');
      this.output = Buffer.concat([Buffer.alloc(HEADROOM), buffer]);
      this.size = buffer.length;
      return engine.bytesWritten;
    } catch (error) {
      const { code, errno } = error as { code?: string; errno?: number };
      if (code === 'Z_BUF_ERROR') return -1;
      if (code === 'ERR_BUFFER_TOO_LARGE') throw new InflateError('serious inflate inconsistency');
      if (error instanceof InflateError) throw error;
      throw new InflateError(`inflate returned ${errno} (${(error as Error).message})`);
    }
  }
}

/** Whether the inner handle is there and behaves: known after the first inflater, for Node stays what it is. */
let isHandleUsable: boolean | undefined;

/** The fast inflater where this Node has the inner handle it needs and it behaves, else the plain one. */
export function createInflater(): Inflater {
  isHandleUsable ??= probeHandle();
  return isHandleUsable ? new HandleInflater() : new PlainInflater();
}

function probeHandle(): boolean {
  try {
    const inflater = new HandleInflater();
    const probe = Buffer.concat([zlib.deflateSync(Buffer.from('probe')), Buffer.from('rest')]);
    for (let round = 0; round < 2; round++) {
      inflater.start(5);
      const consumed = inflater.feed(probe, 0, probe.length);
      const body = inflater.output.toString('latin1', HEADROOM, HEADROOM + inflater.size);
      if (!inflater.isDone || consumed !== probe.length - 4 || body !== 'probe') return false;
    }
    return true;
  } catch {
    return false;
  }
}

/** Inflates bytes `start` to `end` of `segment`, which are known to be one stream of `size` bytes. */
export function inflateEntry(inflater: Inflater, segment: Segment, start: number, end: number, size: number): Inflater {
  inflater.start(size);
  for (let at = start; at < end || inflater.hasMore; ) {
    const piece = segment.pieceAt(at, end);
    at += inflater.feed(piece.slab, piece.start, piece.end);
  }
  if (inflater.size !== size) inflater.feed(EMPTY, 0, 0);
  return inflater;
}

/**
 * As `inflateEntry`, in steps. Yields between pieces, so never for a small one; the inflater may not be used for anything else meanwhile.
 */
export function* inflateSteps(
  inflater: Inflater,
  segment: Segment,
  start: number,
  end: number,
  size: number,
): Steps<void> {
  inflater.start(size);
  for (let at = start; at < end || inflater.hasMore; ) {
    if (inflater.size > 0) yield Math.min(inflater.size, MOST_OUTPUT) * COST.byteInflated;
    const piece = segment.pieceAt(at, Math.min(end, at + FEED_BYTES));
    at += inflater.feed(piece.slab, piece.start, piece.end);
  }
  if (inflater.size !== size) inflater.feed(EMPTY, 0, 0);
}

/** A copy of the first `used` bytes, with room for `length`. */
function withExactRoom(buffer: Buffer, length: number, used: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(length);
  buffer.copy(larger, 0, 0, used);
  return larger;
}
