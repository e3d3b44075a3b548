import type { TypeCode } from '../object/object.js';

export const OFS_DELTA = 6;
export const REF_DELTA = 7;

/**
 * Factor of the last size byte that an entry header may have. Git's reader (`unpack_object_header_buffer`) refuses more
 * size bytes, even if their value is 0.
 */
const LARGEST_SCALE = 2 ** 57;

/**
 * Upper bound for the length of an entry header in bytes. Type and size take at most 10 bytes, an id 20, and a distance
 * 10.
 */
export const LONGEST_HEADER = 32;

/**
 * Parser of the header of a pack entry (gitformat-pack, "pack entries"). The header consists of these bytes:
 *
 *     size:     1 byte   MSB: more follows; 3 bits type; 4 bits size
 *               n bytes  MSB: more follows; 7 bits size each, least significant first
 *     base:     20 bytes id of the base (type 7), or
 *               n bytes  distance back to the base (type 6), 7 bits each, most significant first,
 *                        each continuation adding one to what it continues
 */
export class EntryHeader {
  type = 0;
  size = 0;
  /**
   * Distance in bytes back from the start of this entry to the start of the delta's base; 0 unless the type is
   * `OFS_DELTA`.
   */
  distance = 0;
  /** Offset of the 20-byte id of the delta's base in the parsed bytes; -1 unless the type is `REF_DELTA`. */
  baseAt = -1;
  /** Offset in the parsed bytes at which the compressed data (zlib stream) starts, directly after the header. */
  end = 0;

  get isDelta(): boolean {
    return this.type === OFS_DELTA || this.type === REF_DELTA;
  }

  /**
   * Parses the header that starts at `start`. Returns an empty string if the header is valid, otherwise the reason.
   * Returns undefined if more bytes are needed, because the header does not end before `limit`.
   */
  parse(bytes: Uint8Array, start: number, limit: number): string | undefined {
    let at = start;
    if (at >= limit) return undefined;
    let byte = bytes[at++]!;
    this.type = (byte >> 4) & 7;
    this.distance = 0;
    this.baseAt = -1;
    let size = byte & 15;
    for (let scale = 16; byte & 0x80; scale *= 128) {
      if (scale > LARGEST_SCALE) return 'bad object header';
      if (at >= limit) return undefined;
      byte = bytes[at++]!;
      size += (byte & 0x7f) * scale;
    }
    this.size = size;
    if (this.type === REF_DELTA) {
      if (at + 20 > limit) return undefined;
      this.baseAt = at;
      at += 20;
    } else if (this.type === OFS_DELTA) {
      let distance = 0;
      for (let isFirst = true; isFirst || byte & 0x80; isFirst = false) {
        if (at >= limit) return undefined;
        byte = bytes[at++]!;
        distance = (isFirst ? 0 : distance + 1) * 128 + (byte & 0x7f);
        if (distance > Number.MAX_SAFE_INTEGER / 256) return 'offset value overflow for delta base object';
      }
      if (distance === 0) return 'delta base offset is out of bound';
      this.distance = distance;
    } else if (this.type === 0 || this.type === 5) {
      return `unknown object type ${this.type}`;
    }
    this.end = at;
    return '';
  }
}

/**
 * Writes the type and the inflated size of a pack entry to `target` at position `at`. Returns the position after them.
 */
export function writeTypeAndSize(target: Uint8Array, at: number, type: TypeCode | 6 | 7, size: number): number {
  let rest = Math.floor(size / 16);
  let byte = (type << 4) | (size & 15);
  let end = at;
  while (rest > 0) {
    target[end++] = byte | 0x80;
    byte = rest & 0x7f;
    rest = Math.floor(rest / 128);
  }
  target[end++] = byte;
  return end;
}

/**
 * Writes the distance of an `OFS_DELTA` entry, from the entry back to its base, to `target` at position `at`. Returns
 * the position after it.
 */
export function writeDistance(target: Uint8Array, at: number, distance: number): number {
  let length = 1;
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor((rest - 1) / 128)) length++;
  let rest = distance;
  for (let index = length - 1; index >= 0; index--) {
    target[at + index] = (rest & 0x7f) | (index === length - 1 ? 0 : 0x80);
    rest = Math.floor(rest / 128) - 1;
  }
  return at + length;
}
