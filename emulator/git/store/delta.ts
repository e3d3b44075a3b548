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
 * Runs the instructions from `at` to `limit`. Base, delta and result all lie in `arena`, because a copy
 * inside one array costs a third of a copy between two. Throws `DeltaError`, having written nothing
 * outside the result.
 */
export function applyDelta(
  arena: Uint8Array,
  baseAt: number,
  baseSize: number,
  instructionsAt: number,
  limit: number,
  resultAt: number,
  resultSize: number,
): void {
  const baseEnd = baseAt + baseSize;
  const resultEnd = resultAt + resultSize;
  let at = instructionsAt;
  let out = resultAt;
  while (at < limit) {
    const op = arena[at++]!;
    let from: number;
    let count: number;
    if (op & 0x80) {
      // Bytes past `limit` read as something; the bounds below or the end of the loop tell.
      let offset = 0;
      count = 0;
      if (op & 0x01) offset = arena[at++]!;
      if (op & 0x02) offset |= arena[at++]! << 8;
      if (op & 0x04) offset |= arena[at++]! << 16;
      if (op & 0x08) offset += arena[at++]! * 0x1000000;
      if (op & 0x10) count = arena[at++]!;
      if (op & 0x20) count |= arena[at++]! << 8;
      if (op & 0x40) count |= arena[at++]! << 16;
      if (count === 0) count = 0x10000;
      from = baseAt + offset;
      if (at > limit || from + count > baseEnd) throw new DeltaError();
    } else {
      count = op;
      from = at;
      at += count;
      if (count === 0 || at > limit) throw new DeltaError();
    }
    if (out + count > resultEnd) throw new DeltaError();
    if (count < SHORT) {
      for (let byte = 0; byte < count; byte++) arena[out + byte] = arena[from + byte]!;
    } else {
      arena.copyWithin(out, from, from + count);
    }
    out += count;
  }
  if (out !== resultEnd) throw new DeltaError();
}
