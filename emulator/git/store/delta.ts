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

/**
 * Runs the instructions of `delta` from `at` to `limit`. Base and result lie in one `arena`, because a
 * copy inside one array costs a third of a copy between two. Throws `DeltaError`, having written nothing
 * outside the result.
 */
export function applyDelta(
  delta: Uint8Array,
  start: number,
  limit: number,
  arena: Uint8Array,
  baseAt: number,
  baseSize: number,
  resultAt: number,
  resultSize: number,
): void {
  const resultEnd = resultAt + resultSize;
  let at = start;
  let out = resultAt;
  while (at < limit) {
    const op = delta[at++]!;
    if ((op & 0x80) === 0) {
      const next = at + op;
      if (op === 0 || next > limit || out + op > resultEnd) throw new DeltaError();
      // At most 127 bytes: for so few, a loop is as fast as any call.
      while (at < next) arena[out++] = delta[at++]!;
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
      for (const end = out + count; out < end; ) arena[out++] = arena[from++]!;
    } else {
      arena.copyWithin(out, from, from + count);
      out += count;
    }
  }
  if (out !== resultEnd) throw new DeltaError();
}
