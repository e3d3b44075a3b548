import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { type Inner, innerOf } from './zlib-handle.js';

/** Half the time of Git's 6 for a tenth more bytes. Only what no sender has deflated before is concerned. */
const LEVEL = 3;
/** A body this large is deflated on another thread. */
const LARGE = 128 * 1024;
/** What a body that cannot be compressed grows by at most (zlib, `deflateBound`), and more. */
const GROWTH = 1024;
const CHUNK = 4 * 1024;
const { Z_FINISH } = zlib.constants;

const deflateElsewhere = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.deflate);

/** Deflates bodies into zlib streams: short ones at once, long ones without holding up others. */
export interface Deflater {
  deflate(body: Buffer): Buffer | Promise<Buffer>;
}

/** One handle for every short stream. */
export class HandleDeflater implements Deflater {
  // The stream closes its handle when nobody has it any more.
  readonly #stream = new zlib.Deflate({ level: LEVEL });
  readonly #inner: Inner = innerOf(this.#stream);
  readonly #output = Buffer.allocUnsafeSlow(LARGE + GROWTH);
  #error: string | undefined;

  constructor() {
    this.#inner.handle.onerror = (message, code) => {
      this.#error = `deflate returned ${code} (${message})`;
    };
  }

  deflate(body: Buffer): Buffer | Promise<Buffer> {
    if (body.length >= LARGE) return deflateElsewhere(body, { level: LEVEL });
    const { handle, left } = this.#inner;
    const output = this.#output;
    handle.reset();
    handle.writeSync(Z_FINISH, body, 0, body.length, output, 0, output.length);
    if (this.#error !== undefined) throw new Error(this.#error);
    return Buffer.from(output.subarray(0, output.length - left[0]!));
  }
}

/** The same with nothing but documented calls. */
export class PlainDeflater implements Deflater {
  deflate(body: Buffer): Buffer | Promise<Buffer> {
    if (body.length >= LARGE) return deflateElsewhere(body, { level: LEVEL });
    return zlib.deflateSync(body, { level: LEVEL, chunkSize: CHUNK });
  }
}

/** The fast deflater where this Node has the inner handle it needs and it behaves, else the plain one. */
export function createDeflater(): Deflater {
  try {
    const deflater = new HandleDeflater();
    const plain = new PlainDeflater();
    for (const probe of ['probe', 'another probe'].map((text) => Buffer.from(text.repeat(9)))) {
      if (!(deflater.deflate(probe) as Buffer).equals(plain.deflate(probe) as Buffer)) return plain;
    }
    return deflater;
  } catch {
    return new PlainDeflater();
  }
}
