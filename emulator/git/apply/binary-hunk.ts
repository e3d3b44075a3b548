import { inflateSync } from 'node:zlib';
import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { readBase85Line } from '../diff/base85.js';
import { requestLimit } from '../limits/request-limits.js';
import { HEADROOM } from '../object/object-hash.js';
import { createInflater, InflateError } from '../pack/inflater.js';
import type { BinaryHunk } from './file-patch.js';
import type { LineReader } from './line-reader.js';
import { CorruptBinaryPatch, PatchError } from './patch-error.js';

/**
 * `UNIT`: number of lines read between two yields to the event loop. `FEED`: number of deflated bytes inflated between
 * two yields. `FEED` is small, because one deflated byte can inflate to a thousand bytes.
 */
const UNIT = 1024;
const FEED = 4096;
/**
 * Maximum size, in deflated and in inflated bytes, of a hunk that is inflated in one call. Inflating in steps has a
 * fixed cost that is too high for short hunks.
 */
const SHORT = 1 << 20;

/**
 * First line of a binary hunk: the method and the size. The size is parsed as C's `strtoul` does: white space and a
 * sign may precede the digits, and any text may follow them. A negative size stands for a very large number.
 */
const HEADER = /^(literal|delta) [ \t\v\f\r]*([-+]?)(\d*)/;

/**
 * Reads one hunk of a binary patch and moves the reader past it. Returns undefined if no hunk begins at the current
 * line. The comment of `writeBinaryPatch` describes the format. Throws `PatchError`.
 */
export function* readBinaryHunk(lines: LineReader): Steps<BinaryHunk | undefined> {
  const header = HEADER.exec(lines.text);
  if (!header) return undefined;
  const size = header[2] === '-' ? Number.POSITIVE_INFINITY : Number(header[3]);
  const first = lines.number;
  lines.next();
  const pieces: Buffer[] = [];
  for (; !lines.isDone && lines.end - lines.start > 1; lines.next()) {
    if (lines.number % UNIT === 0) yield UNIT * COST.line;
    const piece = readBase85Line(lines.bytes, lines.start, lines.isComplete ? lines.end - 1 : lines.end);
    if (!piece) throw corrupt(lines.number);
    pieces.push(piece);
  }
  if (lines.isDone) throw corrupt(lines.number);
  lines.next();
  if (size > requestLimit('patchFileBytes'))
    throw new PatchError('malformed', `binary patch of ${size} bytes at line ${first} is too large`);
  return { method: header[1] as BinaryHunk['method'], data: yield* inflate(Buffer.concat(pieces), size, first) };
}

function* inflate(deflated: Buffer, size: number, line: number): Steps<Buffer> {
  const data = deflated.length + size <= SHORT ? inflateShort(deflated, size) : yield* inflateLong(deflated, size);
  if (data?.length !== size) throw corrupt(line);
  return data;
}

function inflateShort(deflated: Buffer, size: number): Buffer | undefined {
  try {
    return inflateSync(deflated, { maxOutputLength: Math.max(1, size) });
  } catch {
    return undefined;
  }
}

function* inflateLong(deflated: Buffer, size: number): Steps<Buffer | undefined> {
  const inflater = createInflater();
  inflater.start(size);
  // One byte is appended, because the inflater detects the end of the stream only when it reads the byte after it.
  const input = Buffer.concat([deflated, Buffer.alloc(1)]);
  try {
    for (let at = 0; at < input.length && !inflater.isDone; at += FEED) {
      inflater.feed(input, at, Math.min(at + FEED, input.length));
      yield FEED * COST.byteInflated;
    }
  } catch (error) {
    if (error instanceof InflateError) return undefined;
    throw error;
  }
  return inflater.isDone ? inflater.output.subarray(HEADROOM, HEADROOM + inflater.size) : undefined;
}

function corrupt(line: number): CorruptBinaryPatch {
  return new CorruptBinaryPatch(`corrupt binary patch at line ${line}`);
}
