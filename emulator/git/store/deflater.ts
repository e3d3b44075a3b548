import { promisify } from 'node:util';
import * as zlib from 'node:zlib';

/** Half the time of Git's 6 for a tenth more bytes. Only what no sender has deflated before is concerned. */
const LEVEL = 3;
/** A body this large is deflated on another thread. */
const LARGE = 128 * 1024;

const deflateElsewhere = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.deflate);

/** Deflates bodies into zlib streams: short ones at once, long ones without holding up others. */
export function deflate(body: Buffer): Buffer | Promise<Buffer> {
  if (body.length < LARGE) return zlib.deflateSync(body, { level: LEVEL, chunkSize: CHUNK });
  return deflateElsewhere(body, { level: LEVEL });
}

const CHUNK = 4 * 1024;
