import { COST } from '../schedule/cost.js';
import type { Steps } from '../schedule/steps.js';

/** Thrown when bytes are no delta, or none of this base. */
export class DeltaError extends Error {
  override readonly name = 'DeltaError';
  constructor() {
    super('failed to apply delta');
  }
}

/**
 * A delta (gitformat-pack, "Deltified representation") is the sizes of base and result, each 7 bits a
 * byte, least significant first, and then instructions:
 *
 *     1ooo oooo .... copy   one bit per byte of offset (4) and of size (3) that follows; size 0 means 0x10000
 *     0nnn nnnn data        insert the next n bytes
 *     0000 0000             reserved
 */
export class DeltaHeader {
  baseSize = 0;
  resultSize = 0;
  /** Where the instructions start. */
  end = 0;

  /** Throws `DeltaError`. */
  parse(bytes: Uint8Array, start: number, limit: number): void {
    this.end = start;
    this.baseSize = this.#size(bytes, limit);
    this.resultSize = this.#size(bytes, limit);
  }

  #size(bytes: Uint8Array, limit: number): number {
    let size = 0;
    for (let scale = 1; ; scale *= 128) {
      if (this.end >= limit || scale > 2 ** 42) throw new DeltaError();
      const byte = bytes[this.end++]!;
      size += (byte & 0x7f) * scale;
      if ((byte & 0x80) === 0) return size;
    }
  }
}

/** Below this many bytes a loop beats the call of `copyWithin`. */
const SHORT = 12;
/** Bytes of delta read, or of result written, between two looks at the schedule. */
const PIECE = 256 * 1024;

/**
 * A delta on its way to be applied. Base and result lie in one buffer where that is easy: a copy inside one costs a
 * third of a copy between two.
 */
export interface DeltaWork {
  readonly delta: Uint8Array;
  /** Where the instructions start and end. */
  readonly start: number;
  readonly limit: number;
  readonly base: Buffer;
  readonly baseAt: number;
  readonly baseSize: number;
  readonly result: Buffer;
  readonly resultAt: number;
  readonly resultSize: number;
}

/** Runs the instructions. Throws `DeltaError`, having written nothing outside the result. */
export function applyDelta(
  delta: Uint8Array,
  start: number,
  limit: number,
  arena: Buffer,
  baseAt: number,
  baseSize: number,
  resultAt: number,
  resultSize: number,
): void {
  const work = { delta, start, limit, base: arena, baseAt, baseSize, result: arena, resultAt, resultSize };
  new DeltaRun(work).advance(limit, resultAt + resultSize);
}

/**
 * Calls `visit` with each instruction to copy of a delta that was applied: where in the result, from where in the base,
 * how much; and `insert` with the others: where in the delta, how much. It decodes them once more than `DeltaRun`, whose loop checks and copies as it goes and pays for every call.
 */
export function eachCopy(
  delta: Uint8Array,
  start: number,
  limit: number,
  visit: (resultAt: number, baseAt: number, count: number) => void,
  insert?: (deltaAt: number, count: number) => void,
): void {
  let out = 0;
  for (let at = start; at < limit; ) {
    const op = delta[at++]!;
    if ((op & 0x80) === 0) {
      insert?.(at, op);
      at += op;
      out += op;
      continue;
    }
    let offset = 0;
    let count = 0;
    if (op & 0x01) offset = delta[at++]!;
    if (op & 0x02) offset |= delta[at++]! << 8;
    if (op & 0x04) offset |= delta[at++]! << 16;
    if (op & 0x08) offset += delta[at++]! * 0x1000000;
    if (op & 0x10) count = delta[at++]!;
    if (op & 0x20) count |= delta[at++]! << 8;
    if (op & 0x40) count |= delta[at++]! << 16;
    if (count === 0) count = 0x10000;
    visit(out, offset, count);
    out += count;
  }
}

/** As `applyDelta`, in steps. */
export function* deltaSteps(work: DeltaWork): Steps<void> {
  const run = new DeltaRun(work);
  for (let isDone = false; !isDone; ) {
    const { at, out } = run;
    isDone = run.advance(at + PIECE, out + PIECE);
    yield (run.out - out) * COST.byteCopied + (run.at - at) * COST.byteScanned;
  }
}

/**
 * What a whole delta makes of `base`, in steps. Throws `DeltaError`, also where the delta is for another base or makes
 * more than `most` bytes.
 */
export function* patchDelta(base: Buffer, delta: Buffer, most = Number.POSITIVE_INFINITY): Steps<Buffer> {
  const { length } = delta;
  const header = new DeltaHeader();
  header.parse(delta, 0, length);
  const { baseSize, resultSize, end } = header;
  if (baseSize !== base.length || resultSize > most) throw new DeltaError();
  const result = Buffer.allocUnsafeSlow(resultSize);
  const work = { base, baseAt: 0, baseSize, result, resultAt: 0, resultSize };
  yield* deltaSteps({ ...work, delta, start: end, limit: length });
  return result;
}

class DeltaRun {
  /** The next instruction, and where the next byte of the result goes. */
  at: number;
  out: number;
  /** What is left of a copy that was cut. */
  #from = 0;
  #left = 0;

  constructor(private readonly work: DeltaWork) {
    this.at = work.start;
    this.out = work.resultAt;
  }

  /** Stops at `atStop` or when the result has grown to `outStop`; says whether the result is whole. */
  advance(atStop: number, outStop: number): boolean {
    const { delta, limit, base, baseAt, baseSize, result, resultAt, resultSize } = this.work;
    const resultEnd = resultAt + resultSize;
    const stop = Math.min(limit, atStop);
    let { at, out } = this;
    if (this.#left > 0) {
      const count = Math.min(this.#left, outStop - out);
      base.copy(result, out, this.#from, this.#from + count);
      out += count;
      this.#from += count;
      this.#left -= count;
    }
    while (at < stop && out < outStop) {
      const op = delta[at++]!;
      if ((op & 0x80) === 0) {
        const next = at + op;
        if (op === 0 || next > limit || out + op > resultEnd) throw new DeltaError();
        // At most 127 bytes: for so few, a loop is as fast as any call.
        while (at < next) result[out++] = delta[at++]!;
        continue;
      }
      // Bytes past `limit` read as something; the check below tells.
      let offset = 0;
      let count = 0;
      if (op & 0x01) offset = delta[at++]!;
      if (op & 0x02) offset |= delta[at++]! << 8;
      if (op & 0x04) offset |= delta[at++]! << 16;
      if (op & 0x08) offset += delta[at++]! * 0x1000000;
      if (op & 0x10) count = delta[at++]!;
      if (op & 0x20) count |= delta[at++]! << 8;
      if (op & 0x40) count |= delta[at++]! << 16;
      if (count === 0) count = 0x10000;
      if (at > limit || offset + count > baseSize || out + count > resultEnd) throw new DeltaError();
      let from = baseAt + offset;
      if (count < SHORT) {
        for (const end = out + count; out < end; ) result[out++] = base[from++]!;
        continue;
      }
      if (out + count > outStop) {
        const cut = outStop - out;
        this.#from = from + cut;
        this.#left = count - cut;
        count = cut;
      }
      if (base === result) result.copyWithin(out, from, from + count);
      else base.copy(result, out, from, from + count);
      out += count;
    }
    this.at = at;
    this.out = out;
    if (at < limit || this.#left > 0) {
      // A result that is full takes nothing more.
      if (out === resultEnd) throw new DeltaError();
      return false;
    }
    if (out !== resultEnd) throw new DeltaError();
    return true;
  }
}
