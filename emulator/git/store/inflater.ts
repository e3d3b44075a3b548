import * as zlib from 'node:zlib';
import type { Meter } from '../schedule/meter.js';
import { bufferWithRoom } from './growable.js';
import { HEADROOM } from './object-hash.js';
import type { Segment } from './segment.js';

/** Output a fresh inflater has room for, and the most it sets aside on the word of an entry header. */
const FIRST_OUTPUT = 64 * 1024;
/** Bytes inflated between two looks at the clock. */
export const FEED_BYTES = 256 * 1024;
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
export interface Inflater {
  readonly isDone: boolean;
  readonly output: Buffer;
  readonly size: number;
  start(declaredSize: number): void;
  /**
   * Takes bytes `start` to `end` and returns how many belong to the stream. The end shows only once a
   * byte after it is there; a pack always has one. Without bytes it says that none will follow.
   * Throws `InflateError`.
   */
  feed(input: Buffer, start: number, end: number): number;
}

/** The inner face of a zlib stream of Node, as far as it is used here. */
interface ZlibHandle {
  onerror: (message: string, code: number) => void;
  reset(): void;
  writeSync(
    flush: number,
    input: Buffer,
    inputAt: number,
    inputLength: number,
    output: Buffer,
    outputAt: number,
    outputLength: number,
  ): void;
}

/**
 * One handle for every stream. A pack is many thousand small streams: with `inflateSync` each of them
 * costs 4 to 10 microseconds of set-up, this way 0.4 to 4. The handle is not public, hence the probe in
 * `createInflater`.
 */
export class HandleInflater implements Inflater {
  isDone = false;
  output: Buffer = Buffer.allocUnsafeSlow(HEADROOM + FIRST_OUTPUT);
  size = 0;
  #declared = 0;
  #error: string | undefined;
  #isFresh = true;
  readonly #stream = new zlib.Inflate();
  readonly #handle: ZlibHandle;
  /** After a write: bytes of output left, bytes of input left. */
  readonly #left: Uint32Array;

  constructor() {
    const inner = this.#stream as unknown as { _handle: ZlibHandle; _writeState: Uint32Array };
    this.#handle = inner._handle;
    this.#left = inner._writeState;
    this.#handle.onerror = (message, code) => {
      this.#error = `inflate returned ${code} (${message})`;
    };
  }

  start(declaredSize: number): void {
    if (!this.#isFresh) this.#handle.reset();
    this.#isFresh = true;
    if (this.output.length > HEADROOM + KEPT_OUTPUT) this.output = Buffer.allocUnsafeSlow(HEADROOM + FIRST_OUTPUT);
    this.#declared = declaredSize;
    this.size = 0;
    this.isDone = false;
  }

  feed(input: Buffer, start: number, end: number): number {
    this.#isFresh = false;
    let at = start;
    while (at < end) {
      const room = this.#makeRoom(end - at);
      this.#handle.writeSync(SYNC_FLUSH, input, at, end - at, this.output, HEADROOM + this.size, room);
      if (this.#error !== undefined) this.#fail(this.#error);
      const outputLeft = this.#left[0]!;
      at = end - this.#left[1]!;
      this.size += room - outputLeft;
      if (this.size > this.#declared) this.#fail('serious inflate inconsistency');
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
    const wanted = this.#declared - this.size + 1;
    const free = this.output.length - HEADROOM - this.size;
    if (free < wanted && free <= inputLeft * 4) {
      const length = Math.min(this.#declared + 1, Math.max(this.size * 2, this.size + inputLeft * 4, FIRST_OUTPUT));
      this.output = bufferWithRoom(this.output, HEADROOM + length);
    }
    return Math.min(wanted, this.output.length - HEADROOM - this.size);
  }

  #fail(reason: string): never {
    this.#error = undefined;
    throw new InflateError(reason);
  }
}

/** The same with nothing but documented calls: whole streams, tried again whenever the input has doubled. */
export class PlainInflater implements Inflater {
  isDone = false;
  output: Buffer = Buffer.alloc(HEADROOM);
  size = 0;
  #declared = 0;
  #pieces: Buffer[] = [];
  #collected = 0;
  #nextTry = 0;

  start(declaredSize: number): void {
    this.#declared = declaredSize;
    this.#pieces = [];
    this.#collected = 0;
    this.#nextTry = 0;
    this.size = 0;
    this.isDone = false;
  }

  feed(input: Buffer, start: number, end: number): number {
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
      const options = { info: true, maxOutputLength: this.#declared + 1 };
      // `info` is documented; its types are not complete in every release.
      const { buffer, engine } = zlib.inflateSync(whole, options) as unknown as {
        buffer: Buffer;
        engine: { bytesWritten: number };
      };
      if (buffer.length > this.#declared) throw new InflateError('serious inflate inconsistency');
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

/** The fast inflater where this Node has the inner handle it needs and it behaves, else the plain one. */
export function createInflater(): Inflater {
  try {
    const inflater = new HandleInflater();
    const probe = Buffer.concat([zlib.deflateSync(Buffer.from('probe')), Buffer.from('rest')]);
    for (let round = 0; round < 2; round++) {
      inflater.start(5);
      const consumed = inflater.feed(probe, 0, probe.length);
      const body = inflater.output.toString('latin1', HEADROOM, HEADROOM + inflater.size);
      if (!inflater.isDone || consumed !== probe.length - 4 || body !== 'probe') return new PlainInflater();
    }
    return inflater;
  } catch {
    return new PlainInflater();
  }
}

/** Inflates bytes `start` to `end` of `segment`, which are known to be one stream of `size` bytes. */
export function inflateEntry(inflater: Inflater, segment: Segment, start: number, end: number, size: number): Inflater {
  inflater.start(size);
  for (let at = start; at < end; ) {
    const piece = segment.pieceAt(at, end);
    inflater.feed(piece.slab, piece.start, piece.end);
    at += piece.end - piece.start;
  }
  if (inflater.size !== size) inflater.feed(EMPTY, 0, 0);
  return inflater;
}

/** As `inflateEntry`, without holding up others for long. Nobody else may use the inflater meanwhile. */
export async function inflateInSlices(
  inflater: Inflater,
  segment: Segment,
  start: number,
  end: number,
  size: number,
  meter: Meter,
): Promise<void> {
  inflater.start(size);
  for (let at = start; at < end; ) {
    const piece = segment.pieceAt(at, Math.min(end, at + FEED_BYTES));
    inflater.feed(piece.slab, piece.start, piece.end);
    at += piece.end - piece.start;
    if (meter.isOver) await meter.pass();
  }
  if (inflater.size !== size) inflater.feed(EMPTY, 0, 0);
}
