import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

/** Size in bytes of the header of a pack: signature, version and number of objects (gitformat-pack). */
const HEADER = 12;
/** Size in bytes of the checksum at the end of a pack. */
const CHECKSUM = 20;
const TYPE_REF_DELTA = 7;
/** Maximum number of bytes that one instruction of the delta can insert. Also the limit for the size of the base. */
const MAX_SIZE = 127;

/** Returns the id of a blob with this content. */
export function blobId(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

/**
 * Returns a copy of a pack with one more object: a blob with the content of `base` followed by `added`. The blob is
 * stored as a delta against `base`, which is not in the pack, so the pack is thin (gitformat-pack, `OBJ_REF_DELTA`).
 * `base` and `added` have at most 127 bytes.
 */
export function withDelta(pack: Buffer, base: Buffer, added: Buffer): Buffer {
  if (base.length > MAX_SIZE || added.length > MAX_SIZE) throw new RangeError('base and added have at most 127 bytes');
  const sizes = [...varint(base.length), ...varint(base.length + added.length)];
  // Copy instruction with one size byte and no offset, which copies the whole base.
  const copy = [0b1001_0000, base.length];
  const delta = Buffer.from([...sizes, ...copy, added.length, ...added]);
  const first = (TYPE_REF_DELTA << 4) | (delta.length & 0b1111);
  const rest = delta.length >> 4;
  const entry = [rest === 0 ? first : first | 0b1000_0000, ...(rest === 0 ? [] : varint(rest))];
  const body = Buffer.concat([
    pack.subarray(0, -CHECKSUM),
    Buffer.from(entry),
    Buffer.from(blobId(base), 'hex'),
    deflateSync(delta),
  ]);
  body.writeUInt32BE(pack.readUInt32BE(HEADER - 4) + 1, HEADER - 4);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

/** Encodes a size in groups of 7 bits, the lowest first. The high bit of a byte is set if another byte follows. */
function varint(size: number): number[] {
  return size < 0b1000_0000 ? [size] : [(size & 0b0111_1111) | 0b1000_0000, ...varint(size >> 7)];
}
