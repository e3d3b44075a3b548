import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { type ObjectType, type Oid, oidIn, typeCode } from '../../object/object.js';
import { OFS_DELTA, REF_DELTA, writeDistance, writeTypeAndSize } from '../../pack/entry-header.js';

function sha1(bytes: Buffer | string): Buffer {
  return createHash('sha1').update(bytes).digest();
}

export function oidOf(type: ObjectType, body: Buffer | string): Oid {
  return oidIn(sha1(Buffer.concat([Buffer.from(`${type} ${Buffer.from(body).length}\0`), Buffer.from(body)])));
}

/** Builder of packs for tests. It can write wrong sizes, bases, streams and headers on purpose. */
export class PackBuilder {
  readonly #parts: Buffer[] = [];
  #length = 12;
  count = 0;

  /** Offset in the pack at which the next entry will start. */
  get length(): number {
    return this.#length;
  }

  whole(type: ObjectType, body: Buffer | string, declared?: number): number {
    const bytes = Buffer.from(body);
    return this.entry(typeCode(type), declared ?? bytes.length, Buffer.alloc(0), zlibOf(bytes));
  }

  /**
   * Appends a delta whose base is the entry at offset `base`. `declared` is the size in the entry header. Without it,
   * the real size is written.
   */
  delta(base: number, delta: Buffer, declared?: number): number {
    return this.ofsDelta(this.#length - base, delta, declared);
  }

  ofsDelta(distance: number, delta: Buffer, declared?: number): number {
    const bytes = Buffer.alloc(16);
    const end = writeDistance(bytes, 0, distance);
    return this.entry(OFS_DELTA, declared ?? delta.length, bytes.subarray(0, end), zlibOf(delta));
  }

  refDelta(base: Oid, delta: Buffer): number {
    return this.entry(REF_DELTA, delta.length, Buffer.from(base, 'hex'), zlibOf(delta));
  }

  /** Appends an entry with these header fields, and returns its offset in the pack. */
  entry(type: number, size: number, base: Buffer, stream: Buffer): number {
    const header = Buffer.alloc(16);
    return this.raw(header.subarray(0, writeTypeAndSize(header, 0, type as 1, size)), base, stream);
  }

  raw(...parts: Buffer[]): number {
    const start = this.#length;
    for (const part of parts) {
      this.#parts.push(part);
      this.#length += part.length;
    }
    this.count++;
    return start;
  }

  build(options: { count?: number; version?: number; magic?: string } = {}): Buffer {
    const header = Buffer.alloc(12);
    header.write(options.magic ?? 'PACK', 'latin1');
    header.writeUInt32BE(options.version ?? 2, 4);
    header.writeUInt32BE(options.count ?? this.count, 8);
    const bytes = Buffer.concat([header, ...this.#parts]);
    return Buffer.concat([bytes, sha1(bytes)]);
  }
}

/** Returns a zlib stream of `bytes`. Up to 60 bytes are stored uncompressed, which takes a tenth of the time. */
function zlibOf(bytes: Buffer): Buffer {
  if (bytes.length > 60) return deflateSync(bytes);
  const stream = Buffer.concat([
    Buffer.from([0x78, 1, 1, bytes.length, 0, ~bytes.length & 0xff, 0xff]),
    bytes,
    Buffer.alloc(4),
  ]);
  let [low, high] = [1, 0];
  for (const byte of bytes) {
    low += byte;
    high += low;
  }
  stream.writeUInt16BE(high % 65_521, stream.length - 4);
  stream.writeUInt16BE(low % 65_521, stream.length - 2);
  return stream;
}

/** Returns a delta with these declared sizes of base and result, and these instructions. */
export function delta(baseSize: number, resultSize: number, ...instructions: (Buffer | number[])[]): Buffer {
  return Buffer.concat([size(baseSize), size(resultSize), ...instructions.map((part) => Buffer.from(part))]);
}

/** Returns a delta instruction that inserts `text`, which must be 1 to 127 bytes long. */
export function insert(text: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
}

/** Returns a delta instruction that copies `length` bytes (less than 16 MiB) from offset `from` of the base. */
export function copy(from: number, length: number): number[] {
  const bytes = [from, from >> 8, from >> 16, from >> 24].map((value) => value & 0xff);
  return [0xff, ...bytes, length & 0xff, (length >> 8) & 0xff, (length >> 16) & 0xff];
}

function size(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    bytes.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest);
    if (rest <= 0x7f) return Buffer.from(bytes);
  }
}

/** Yields `bytes` in pieces of `length` bytes, as they arrive from a socket. */
export async function* inPieces(bytes: Buffer, length = 4096): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}
