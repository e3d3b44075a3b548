import * as zlib from 'node:zlib';
import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { HEADROOM } from '../object/object-hash.js';
import type { Segment } from './segment.js';
import { handleOf, type ZlibHandle } from './zlib-handle.js';

/** Initial size of the output buffer in bytes. It is small, because an entry header may declare any size. */
const FIRST_OUTPUT = 64 * 1024;
/**
 * Maximum number of input bytes (`FEED_BYTES`) and output bytes (`MAX_OUTPUT`) in one call of `feed`. The output needs
 * its own limit, because a few kilobytes of compressed zeros can inflate to megabytes.
 */
export const FEED_BYTES = 256 * 1024;
const MAX_OUTPUT = 256 * 1024;
/**
 * Number of output bytes after which the declared size in the entry header is trusted. Memory for the whole output is
 * then reserved at once, so that the output is not copied again.
 */
const BELIEVED = 4 * 1024 * 1024;
/** Maximum size in bytes of an output buffer that is kept for the next object. Larger buffers are released. */
const KEPT_OUTPUT = 1024 * 1024;

const SYNC_FLUSH = zlib.constants.Z_SYNC_FLUSH;
const EMPTY = Buffer.alloc(0);

/**
 * Error for compressed data of a pack entry that is not a zlib stream, or that inflates to more than the declared size.
 */
export class InflateError extends Error {
  override readonly name = 'InflateError';
}

/**
 * Decompressor for zlib streams whose compressed length is unknown, as in a pack. Call `start`, then `feed` with pieces
 * of input until `isDone` is true.
 *
 * `output` contains the result: `size` bytes after the first `HEADROOM` bytes, which are reserved for the header that
 * Git hashes. The result is valid until the next `start`.
 */
export abstract class Inflater {
  isDone = false;
  /** True if zlib has more output for the input so far. `feed` must then be called again, even without input. */
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

  /** Returns the inflated body. The next body gets a new buffer, so this one is not overwritten. */
  takeOutput(): Buffer {
    const body = this.output.subarray(HEADROOM, HEADROOM + this.size);
    this.output = Buffer.allocUnsafeSlow(HEADROOM);
    return body;
  }

  /**
   * Inflates the bytes of the stream from `start` to at most `end` (exclusive). Returns the number of input bytes used.
   * Throws `InflateError`.
   *
   * The end of the stream is detected only if a byte follows it, which is always so in a pack. If `hasMore` is false,
   * an empty input means that no more input follows.
   */
  abstract feed(input: Buffer, start: number, end: number): number;
}

/**
 * Inflater that uses one internal zlib handle of Node for all streams. A pack contains many thousand small streams. For
 * each stream, `inflateSync` takes 4 to 10 microseconds of setup, the handle 0.4 to 4. The handle is not a public API
 * of Node, so `createInflater` tests whether it works.
 */
export class HandleInflater extends Inflater {
  #error: string | undefined;
  #isFresh = true;
  readonly #stream = new zlib.Inflate();
  readonly #handle: ZlibHandle;
  /**
   * Array that the handle updates in each write: number of output bytes left (element 0) and of input bytes left
   * (element 1).
   */
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
    const limit = this.size + MAX_OUTPUT;
    let at = start;
    while ((at < end || this.hasMore) && this.size < limit) {
      const room = Math.min(this.#makeRoom(end - at), limit - this.size);
      this.#handle.writeSync(SYNC_FLUSH, input, at, end - at, this.output, HEADROOM + this.size, room);
      if (this.#error !== undefined) this.#fail(this.#error);
      const outputLeft = this.#left[0]!;
      at = end - this.#left[1]!;
      this.size += room - outputLeft;
      if (this.size > this.declared) this.#fail('serious inflate inconsistency');
      // With a full output buffer, zlib may have more output for this input.
      this.hasMore = outputLeft === 0;
      // If input bytes and output space are left, zlib has reached the end of the stream.
      if (outputLeft > 0 && at < end) {
        this.isDone = true;
        break;
      }
    }
    return at - start;
  }

  /**
   * Grows the output buffer if necessary, and returns the number of output bytes that zlib may write next. This is at
   * most one more than the bytes still expected, because zlib does not check its checksum while the output is full. The
   * buffer grows in proportion to the input received, because the declared size may be false.
   */
  #makeRoom(inputLeft: number): number {
    const wanted = this.declared - this.size + 1;
    const free = this.output.length - HEADROOM - this.size;
    if (free < wanted && free <= Math.min(inputLeft * 4, MAX_OUTPUT)) {
      const next =
        this.size < BELIEVED
          ? Math.max(this.size * 2, this.size + Math.min(inputLeft * 4, MAX_OUTPUT))
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

/**
 * Inflater that uses only the public API of Node, for versions without a working internal handle. It collects the
 * input. Whenever the input has doubled, all of it is inflated again.
 */
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
    // Each try inflates the whole input. The next try waits until the input has doubled, which keeps the total time
    // linear. Small inputs are tried every time.
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
      // The types of some Node releases omit the documented option `info`, so a cast is necessary.
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

/**
 * True if the internal zlib handle of Node exists and works; undefined until the first inflater is created. One test is
 * enough, because the version of Node does not change.
 */
let isHandleUsable: boolean | undefined;

/**
 * Returns an inflater. It uses the internal zlib handle if this version of Node has a working one, otherwise the public
 * API.
 */
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

/**
 * Inflates exactly one zlib stream: the bytes `start` to `end` (exclusive) of `segment`, which inflate to `size` bytes.
 * Returns the inflater, which contains the output.
 */
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
 * Like `inflateEntry`, but yields between pieces of 256 KiB, so that other requests can run. It does not yield for a
 * small stream. Until the generator ends, the inflater must not be used for another stream.
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
    if (inflater.size > 0) yield Math.min(inflater.size, MAX_OUTPUT) * COST.byteInflated;
    const piece = segment.pieceAt(at, Math.min(end, at + FEED_BYTES));
    at += inflater.feed(piece.slab, piece.start, piece.end);
  }
  if (inflater.size !== size) inflater.feed(EMPTY, 0, 0);
}

/** Returns a new buffer of `length` bytes with a copy of the first `used` bytes of `buffer`. */
function withExactRoom(buffer: Buffer, length: number, used: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(length);
  buffer.copy(larger, 0, 0, used);
  return larger;
}
