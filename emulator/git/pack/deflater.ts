import { once } from 'node:events';
import * as zlib from 'node:zlib';
import { COST } from '../../schedule/cost.js';
import type { Meter } from '../../schedule/meter.js';
import { handleOf, type ZlibHandle } from './zlib-handle.js';

/** Half the time of Git's 6 for a tenth more bytes. Only what no sender has deflated before is concerned. */
const LEVEL = 3;
const { Z_FINISH } = zlib.constants;
/** Output there is room for at least, and kept at most between bodies. */
const LEAST_OUTPUT = 16 * 1024;
const KEPT_OUTPUT = 256 * 1024;
/** A body this large is deflated on another thread. */
export const LARGE = 128 * 1024;
/** Bytes handed to that thread at once. */
const PIECE = 1024 * 1024;
const LARGE_CHUNK = 256 * 1024;

/**
 * One handle for every body: most that are deflated for a pack are some hundred bytes, for which setting up a stream
 * takes as long as deflating. The handle is not public, hence the trial in `createDeflater`.
 */
class HandleDeflater {
  readonly #stream = new zlib.Deflate({ level: LEVEL });
  readonly #handle: ZlibHandle;
  /** After a write: bytes of output left, bytes of input left. */
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
    // A full output may have held back the end.
    return left === 0 ? deflateWhole(body) : Buffer.from(output.subarray(0, output.length - left));
  }
}

/** More than zlib's `deflateBound` for any settings: a stored block costs five bytes, the wrapping six. */
function longestStream(bytes: number): number {
  return bytes + (bytes >>> 8) + 64;
}

type Deflate = (body: Buffer) => Buffer;

function deflateWhole(body: Buffer): Buffer {
  return zlib.deflateSync(body, { level: LEVEL });
}

/** By the handle, where this Node has it and it behaves, else in the documented way: the same bytes. */
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

/** Deflates a body into a zlib stream, at once. */
export function deflate(body: Buffer): Buffer {
  deflater ??= createDeflater();
  return deflater(body);
}

/** As `deflate`, without holding up others: the stream in pieces, which are not joined. */
export async function deflateInPieces(body: Buffer, meter: Meter): Promise<Buffer[]> {
  const deflater = zlib.createDeflate({ level: LEVEL, chunkSize: LARGE_CHUNK });
  const pieces: Buffer[] = [];
  deflater.on('data', (piece: Buffer) => pieces.push(piece));
  const ended = once(deflater, 'end');
  for (let at = 0; at < body.length; at += PIECE) {
    if (!deflater.write(body.subarray(at, at + PIECE))) await once(deflater, 'drain');
    meter.spend(COST.object);
    if (meter.isOver) await meter.pass();
  }
  deflater.end();
  await ended;
  return pieces.length < 2 || body.length > PIECE ? pieces : [Buffer.concat(pieces)];
}
