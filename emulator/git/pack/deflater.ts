import { once } from 'node:events';
import * as zlib from 'node:zlib';
import { COST } from '../../schedule/cost.js';
import type { Meter } from '../../schedule/meter.js';
import { handleOf, type ZlibHandle } from './zlib-handle.js';

/**
 * Compression level of zlib for new pack entries. Level 3 takes half the time of Git's level 6, and its output is a
 * tenth larger. Only few objects are compressed, because objects that were received in a pack are sent in their
 * received form.
 */
const LEVEL = 3;
const { Z_FINISH } = zlib.constants;
/**
 * Limits for the output buffer in bytes. `LEAST_OUTPUT` is its minimum size. `KEPT_OUTPUT` is the maximum size of a
 * buffer that is kept for the next body.
 */
const LEAST_OUTPUT = 16 * 1024;
const KEPT_OUTPUT = 256 * 1024;
/**
 * Minimum size in bytes of an object that is compressed on another thread. On the main thread it would delay other
 * requests.
 */
export const LARGE = 128 * 1024;
/**
 * `PIECE`: number of input bytes passed to the other thread at once. `LARGE_CHUNK`: size in bytes of each output
 * buffer.
 */
const PIECE = 1024 * 1024;
const LARGE_CHUNK = 256 * 1024;

/**
 * Compressor that uses one internal zlib handle of Node for all bodies. Most bodies have a few hundred bytes, and
 * creating a zlib stream takes as long as compressing them. The handle is not a public API of Node, so `createDeflater`
 * tests whether it works.
 */
class HandleDeflater {
  readonly #stream = new zlib.Deflate({ level: LEVEL });
  readonly #handle: ZlibHandle;
  /**
   * Array that the handle updates in each write: number of output bytes left (element 0) and of input bytes left
   * (element 1).
   */
  readonly #left: Uint32Array;
  #output = Buffer.allocUnsafeSlow(0);
  #error: string | undefined;

  constructor() {
    const { handle, left } = handleOf(this.#stream);
    this.#handle = handle;
    this.#left = left;
    this.#handle.onerror = (message, code) => {
      this.#error = `deflate returned ${code} (${message})`;
    };
  }

  deflate(body: Buffer): Buffer {
    const bound = longestStream(body.length);
    const output = bound <= this.#output.length ? this.#output : Buffer.allocUnsafeSlow(Math.max(bound, LEAST_OUTPUT));
    if (bound <= KEPT_OUTPUT) this.#output = output;
    this.#handle.writeSync(Z_FINISH, body, 0, body.length, output, 0, output.length);
    const left = this.#left[0]!;
    const error = this.#error;
    this.#error = undefined;
    this.#handle.reset();
    if (error !== undefined) throw new Error(error);
    // With a full output buffer, the end of the stream may be missing. The body is then compressed again with the
    // public API.
    return left === 0 ? deflateWhole(body) : Buffer.from(output.subarray(0, output.length - left));
  }
}

/**
 * Returns an upper bound for the length in bytes of the zlib stream of a body with `bytes` bytes. It is larger than
 * zlib's `deflateBound` for any settings: a stored block costs five bytes, the header and checksum six.
 */
function longestStream(bytes: number): number {
  return bytes + (bytes >>> 8) + 64;
}

type Deflate = (body: Buffer) => Buffer;

function deflateWhole(body: Buffer): Buffer {
  return zlib.deflateSync(body, { level: LEVEL });
}

/**
 * Returns a function that compresses a body. It uses the internal handle if this version of Node has a working one,
 * otherwise the public API. Both produce the same bytes.
 */
function createDeflater(): Deflate {
  try {
    const deflater = new HandleDeflater();
    for (const text of ['probe', '', 'probe'.repeat(1000)]) {
      const body = Buffer.from(text);
      if (!deflater.deflate(body).equals(deflateWhole(body))) return deflateWhole;
    }
    return (body) => deflater.deflate(body);
  } catch {
    return deflateWhole;
  }
}

let deflater: Deflate | undefined;

/** Compresses a body and returns the zlib stream. It does not yield, so it is used only for small bodies. */
export function deflate(body: Buffer): Buffer {
  deflater ??= createDeflater();
  return deflater(body);
}

/**
 * Compresses a body as `deflate` does, but on another thread. It yields meanwhile, so that other requests can run.
 * Returns the zlib stream in several buffers, which are not joined.
 */
export async function deflateInPieces(body: Buffer, meter: Meter): Promise<Buffer[]> {
  const deflater = zlib.createDeflate({ level: LEVEL, chunkSize: LARGE_CHUNK });
  const pieces: Buffer[] = [];
  deflater.on('data', (piece: Buffer) => pieces.push(piece));
  const ended = once(deflater, 'end');
  for (let at = 0; at < body.length; at += PIECE) {
    if (!deflater.write(body.subarray(at, at + PIECE))) await once(deflater, 'drain');
    meter.spend(COST.object);
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
  deflater.end();
  await ended;
  return pieces.length < 2 || body.length > PIECE ? pieces : [Buffer.concat(pieces)];
}
