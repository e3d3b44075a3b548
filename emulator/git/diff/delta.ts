import { COST } from '../schedule/cost.js';
import type { Steps } from '../schedule/steps.js';
import { ByteSink } from './byte-sink.js';

/** Bytes that have to agree before a copy is worth an instruction. */
const BLOCK = 16;
const MAX_INSERT = 0x7f;
const MAX_COPY = 0xffff;
const BASE = 0x01000193;
/** Instructions or blocks between two steps, and bytes that are only compared. */
const UNIT = 4096;
const LONG_UNIT = 1 << 18;

/**
 * A delta as gitformat-pack defines it, or undefined when it would take more than `limit` bytes:
 *
 *     <size of source> <size of target>     (7 bits a byte, least significant first, the top bit on all but the last)
 *     1xxxxxxx [offset bytes] [size bytes]  (copy: the low bits tell which of 4 + 3 little-endian bytes follow)
 *     0xxxxxxx <1 to 127 bytes>             (insert)
 *
 * Each block of 16 bytes of the source can be found again, anywhere in the target; one pass over each, in steps.
 */
export function* encodeDelta(source: Buffer, target: Buffer, limit: number): Steps<Buffer | undefined> {
  const sink = new ByteSink();
  writeSize(sink, source.length);
  writeSize(sink, target.length);
  const blocks = yield* indexBlocks(source);
  let pending = 0;
  let at = 0;
  let hash = 0;
  let isHashed = false;
  let steps = 0;
  while (at + BLOCK <= target.length) {
    if (++steps % UNIT === 0) yield UNIT * COST.operation;
    if (!isHashed) hash = hashBlock(target, at);
    isHashed = true;
    const from = blocks.get(hash) ?? -1;
    const length = from < 0 ? 0 : yield* commonLength(source, from, target, at);
    if (length < BLOCK) {
      if (at + BLOCK < target.length) hash = rollHash(hash, target[at]!, target[at + BLOCK]!);
      at++;
      continue;
    }
    let back = 0;
    while (at - back > pending && from - back > 0 && source[from - back - 1] === target[at - back - 1]) back++;
    writeInserts(sink, target, pending, at - back);
    writeCopies(sink, from - back, length + back);
    if (sink.length > limit) return undefined;
    at += length;
    pending = at;
    isHashed = false;
  }
  writeInserts(sink, target, pending, target.length);
  return sink.length > limit ? undefined : sink.finish();
}

/** The target of `delta` against `source`, in steps; undefined when the delta is malformed or not for this source. */
export function* applyDelta(source: Buffer, delta: Buffer, limit: number): Steps<Buffer | undefined> {
  const position = { at: 0 };
  if (readSize(delta, position) !== source.length) return undefined;
  const size = readSize(delta, position);
  if (size < 0 || size > limit) return undefined;
  const target = Buffer.alloc(size);
  let { at } = position;
  let filled = 0;
  let steps = 0;
  while (at < delta.length) {
    if (++steps % UNIT === 0) yield UNIT * COST.operation;
    const code = delta[at++]!;
    if (code === 0) return undefined;
    if (code & 0x80) {
      let offset = 0;
      let length = 0;
      for (let bit = 0; bit < 4; bit++) if (code & (1 << bit)) offset += delta[at++]! * 2 ** (8 * bit);
      for (let bit = 0; bit < 3; bit++) if (code & (0x10 << bit)) length += delta[at++]! * 2 ** (8 * bit);
      if (length === 0) length = 0x10000;
      // A missing byte has made one of them NaN, which no comparison holds for.
      if (!(offset + length <= source.length && filled + length <= size)) return undefined;
      filled += source.copy(target, filled, offset, offset + length);
    } else {
      if (at + code > delta.length || filled + code > size) return undefined;
      filled += delta.copy(target, filled, at, at + code);
      at += code;
    }
  }
  return filled === size ? target : undefined;
}

function* indexBlocks(source: Buffer): Steps<Map<number, number>> {
  const blocks = new Map<number, number>();
  for (let at = 0; at + BLOCK <= source.length; at += BLOCK) {
    if (at % (BLOCK * UNIT) === 0) yield UNIT * COST.operation;
    const hash = hashBlock(source, at);
    if (!blocks.has(hash)) blocks.set(hash, at);
  }
  return blocks;
}

function hashBlock(bytes: Buffer, start: number): number {
  let hash = 0;
  for (let at = start; at < start + BLOCK; at++) hash = (Math.imul(hash, BASE) + bytes[at]!) | 0;
  return hash;
}

/** What the first byte of a block has been multiplied with. */
const TOP_POWER = Array.from({ length: BLOCK - 1 }).reduce<number>((power) => Math.imul(power, BASE), 1);

function rollHash(hash: number, leaving: number, entering: number): number {
  return (Math.imul(hash - Math.imul(leaving, TOP_POWER), BASE) + entering) | 0;
}

function* commonLength(source: Buffer, from: number, target: Buffer, at: number): Steps<number> {
  const most = Math.min(source.length - from, target.length - at);
  let length = 0;
  for (; length < most && source[from + length] === target[at + length]; length++) {
    if (length % LONG_UNIT === LONG_UNIT - 1) yield LONG_UNIT * COST.byteScanned;
  }
  return length;
}

function writeSize(sink: ByteSink, size: number): void {
  let rest = size;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) sink.byte((rest & 0x7f) | 0x80);
  sink.byte(rest);
}

function readSize(delta: Buffer, position: { at: number }): number {
  let size = 0;
  for (let scale = 1; scale <= 2 ** 35; scale *= 128) {
    const byte = delta[position.at++];
    if (byte === undefined) return -1;
    size += (byte & 0x7f) * scale;
    if (byte < 0x80) return size;
  }
  return -1;
}

function writeInserts(sink: ByteSink, target: Buffer, start: number, end: number): void {
  for (let at = start; at < end; at += MAX_INSERT) {
    const size = Math.min(MAX_INSERT, end - at);
    sink.byte(size);
    sink.slice(target, at, at + size);
  }
}

function writeCopies(sink: ByteSink, from: number, length: number): void {
  for (let done = 0; done < length; done += MAX_COPY) {
    const offset = from + done;
    const size = Math.min(MAX_COPY, length - done);
    const parts = [0, 8, 16, 24].map((shift) => (offset >>> shift) & 0xff);
    parts.push(size & 0xff, size >>> 8);
    sink.byte(parts.reduce((code, part, bit) => (part === 0 ? code : code | (1 << bit)), 0x80));
    for (const part of parts) if (part !== 0) sink.byte(part);
  }
}
