import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';

/** Error for bytes that are not a valid delta, or that are a delta for a different base. */
export class DeltaError extends Error {
  override readonly name = 'DeltaError';
  constructor() {
    super('failed to apply delta');
  }
}

/** Length in bytes of the shortest delta that Git applies (`DELTA_SIZE_MIN` in Git's delta.h). */
const SHORTEST_DELTA = 4;
/** Factor of the last byte that a size in a delta may have. A size with more bytes is refused. */
const LARGEST_SCALE = 2 ** 63;

/**
 * Parser of the header of a delta (gitformat-pack, "Deltified representation"). A delta begins with the sizes of base
 * and result, each with 7 bits per byte, least significant first. These instructions follow:
 *
 *     1ooo oooo .... copy   one bit per byte of offset (4) and of size (3) that follows; size 0 means 0x10000
 *     0nnn nnnn data        insert the next n bytes
 *     0000 0000             reserved
 */
export class DeltaHeader {
  baseSize = 0;
  resultSize = 0;
  /** Offset in the parsed bytes at which the instructions start. */
  end = 0;

  /**
   * Parses the two sizes at the start of a delta. The delta extends from offset `start` to `limit`. Throws `DeltaError`
   * if the delta is too short or a size is malformed.
   */
  parse(bytes: Uint8Array, start: number, limit: number): void {
    if (limit - start < SHORTEST_DELTA) throw new DeltaError();
    this.end = start;
    this.baseSize = this.#size(bytes, limit);
    this.resultSize = this.#size(bytes, limit);
  }

  /**
   * Reads a size as Git's `get_delta_hdr_size` does. The last byte of the delta ends a size, even if that byte has the
   * continuation bit.
   */
  #size(bytes: Uint8Array, limit: number): number {
    if (this.end >= limit) throw new DeltaError();
    let size = 0;
    for (let scale = 1; ; scale *= 128) {
      if (scale > LARGEST_SCALE) throw new DeltaError();
      const byte = bytes[this.end++]!;
      size += (byte & 0x7f) * scale;
      if ((byte & 0x80) === 0 || this.end >= limit) return size;
    }
  }
}

/** Minimum number of bytes that are copied by calling `copyWithin` or `copy`. A loop is faster for fewer bytes. */
const SHORT = 12;
/** Number of bytes read from the delta or written to the result between two yields. */
const PIECE = 256 * 1024;

/** Parser of a copy instruction. The instruction copies `count` bytes of the base from `offset` on. */
class CopyInstruction {
  offset = 0;
  count = 0;

  /**
   * Parses the bytes of the instruction after its first byte `op`. Returns the position after them. If the delta ends
   * too early, the returned position is after its end, and `offset` and `count` are meaningless.
   */
  read(delta: Uint8Array, start: number, op: number): number {
    let at = start;
    let offset = 0;
    let count = 0;
    if (op & 0x01) offset = delta[at++]!;
    if (op & 0x02) offset |= delta[at++]! << 8;
    if (op & 0x04) offset |= delta[at++]! << 16;
    if (op & 0x08) offset += delta[at++]! * 0x1000000;
    if (op & 0x10) count = delta[at++]!;
    if (op & 0x20) count |= delta[at++]! << 8;
    if (op & 0x40) count |= delta[at++]! << 16;
    this.offset = offset;
    this.count = count === 0 ? 0x10000 : count;
    return at;
  }
}

/**
 * Calls `visit` for each copy instruction of a valid delta. The arguments are its offset in the result, its offset in
 * the base, and its length. The instructions are the bytes of `delta` from `start` to `limit` (exclusive).
 */
export function eachCopy(
  delta: Uint8Array,
  start: number,
  limit: number,
  visit: (resultAt: number, baseAt: number, count: number) => void,
): void {
  const copy = new CopyInstruction();
  let out = 0;
  for (let at = start; at < limit; ) {
    const op = delta[at++]!;
    if ((op & 0x80) === 0) {
      at += op;
      out += op;
      continue;
    }
    at = copy.read(delta, at, op);
    visit(out, copy.offset, copy.count);
    out += copy.count;
  }
}

/** Input of `applyDelta`: a delta, its base, and the memory for the result. */
export interface DeltaWork {
  readonly delta: Uint8Array;
  /** Start and end (exclusive) of the instructions in `delta`. */
  readonly start: number;
  readonly limit: number;
  readonly base: Buffer;
  readonly baseAt: number;
  readonly baseSize: number;
  /**
   * Buffer for the result. It may be the buffer that also contains the base. Copying within one buffer takes a third of
   * the time of copying between two.
   */
  readonly result: Buffer;
  readonly resultAt: number;
  readonly resultSize: number;
}

/**
 * Applies a delta until about `max` bytes are read and written. Returns true if the result is complete. Otherwise, the
 * positions at which the next call continues are in `next`. Never writes outside the result. Throws `DeltaError`.
 */
export function applyDelta(
  { delta, start, limit, base, baseAt, baseSize, result, resultAt, resultSize }: DeltaWork,
  max = Number.POSITIVE_INFINITY,
  next = { at: start, out: resultAt },
): boolean {
  const resultEnd = resultAt + resultSize;
  const copy = new CopyInstruction();
  let { at, out } = next;
  const stop = at + out + max;
  while (at < limit && at + out < stop) {
    const op = delta[at++]!;
    if ((op & 0x80) === 0) {
      const end = at + op;
      if (op === 0 || end > limit || out + op > resultEnd) throw new DeltaError();
      // An insert instruction has at most 127 bytes. A loop is not slower than a call for so few.
      while (at < end) result[out++] = delta[at++]!;
      continue;
    }
    at = copy.read(delta, at, op);
    const { offset, count } = copy;
    if (at > limit || offset + count > baseSize || out + count > resultEnd) throw new DeltaError();
    let from = baseAt + offset;
    if (count < SHORT) {
      for (const end = out + count; out < end; ) result[out++] = base[from++]!;
      continue;
    }
    if (base === result) result.copyWithin(out, from, from + count);
    else base.copy(result, out, from, from + count);
    out += count;
  }
  if (at >= limit && out !== resultEnd) throw new DeltaError();
  next.at = at;
  next.out = out;
  return at >= limit;
}

/** Applies the whole delta as `applyDelta` does, but yields every 256 KiB, so that other requests can run. */
export function* deltaSteps(work: DeltaWork): Steps<void> {
  const next = { at: work.start, out: work.resultAt };
  while (!applyDelta(work, PIECE, next)) yield PIECE * COST.byteCopied;
}

/**
 * Applies a delta with its header to `base`. Returns the result in new memory. Throws `DeltaError` if the delta is
 * malformed, is for another base, or has a result of more than `max` bytes. Yields every 256 KiB.
 */
export function* patchDelta(base: Buffer, delta: Buffer, max = Number.POSITIVE_INFINITY): Steps<Buffer> {
  const { length } = delta;
  const header = new DeltaHeader();
  header.parse(delta, 0, length);
  const { baseSize, resultSize, end } = header;
  if (baseSize !== base.length || resultSize > max) throw new DeltaError();
  const result = Buffer.allocUnsafeSlow(resultSize);
  const work = { base, baseAt: 0, baseSize, result, resultAt: 0, resultSize };
  yield* deltaSteps({ ...work, delta, start: end, limit: length });
  return result;
}
