import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { COST } from '../../schedule/cost.js';
import { Meter } from '../../schedule/meter.js';
import { PIECE, PIECE_COST, runYielding, type Steps } from '../../schedule/steps.js';
import { OID_BYTES } from '../object/oid-slots.js';
import { sortInSteps } from '../object/sort.js';
import type { ObjectStore } from '../odb/object-store.js';
import { writePack } from './pack-writer.js';

/**
 * Smallest pack offset that does not fit into 31 bits. An index stores such offsets in a separate table of 64-bit
 * numbers.
 */
const LARGE_OFFSET = 0x8000_0000;

/** Checksum, size and index of a pack whose bytes are not kept in memory. */
export interface DescribedPack {
  /** SHA-1 of the pack in hexadecimal digits. It is also the checksum at the end of the pack. */
  readonly checksum: string;
  readonly size: number;
  /** Content of the pack's `.idx` file. */
  readonly index: Buffer;
}

/**
 * Writes a pack of the objects `numbers` (object numbers in `store`) and computes its `.idx` file. Each piece of the
 * pack is passed to `onPiece`; by default, the pieces are discarded. The same objects always give the same bytes.
 */
export async function describePack(
  store: ObjectStore,
  numbers: Int32Array,
  onPiece: (piece: Buffer) => void | Promise<void> = () => {},
): Promise<DescribedPack> {
  const starts: number[] = [];
  const order: number[] = [];
  const checksums: number[] = [];
  let size = 0;
  let entry = 0;
  let sum = 0;
  let last: Buffer = Buffer.alloc(0);
  const take = (bytes: Buffer, from: number, to: number): void => {
    if (to > from) sum = crc32(bytes.subarray(from, to), sum);
  };
  const onEntry = (start: number, number: number) => {
    starts.push(start);
    order.push(number);
  };
  for await (const piece of writePack(store, numbers, { onEntry })) {
    // Each piece is added to the CRC-32 sums of the entries when the next piece arrives. The last piece is the checksum
    // of the pack, which belongs to no entry. No piece follows it, so it is never added.
    take(last, ...entriesWithin(last, size - last.length));
    size += piece.length;
    last = piece;
    const pending = onPiece(piece);
    if (pending) await pending;
  }
  function entriesWithin(bytes: Buffer, at: number): [number, number] {
    let from = 0;
    while (entry < starts.length && starts[entry]! < at + bytes.length) {
      const here = starts[entry]! - at;
      if (entry > 0) {
        take(bytes, from, here);
        checksums.push(sum);
      }
      sum = 0;
      from = here;
      entry++;
    }
    return entry === 0 ? [0, 0] : [from, bytes.length];
  }
  if (entry > 0) checksums.push(sum);
  const meter = new Meter({ schedule: store.schedule });
  const index = await runYielding(writeIndex(store, { starts, order, checksums }, last), meter);
  return { checksum: last.toString('hex'), size, index };
}

interface Entries {
  readonly starts: readonly number[];
  readonly order: readonly number[];
  readonly checksums: readonly number[];
}

/**
 * Returns the content of a pack index of version 2 (gitformat-pack):
 *
 * - the signature `\377tOc` and the version;
 * - 256 cumulative counts of ids by their first byte, and the sorted ids;
 * - the CRC-32 of each id's entry;
 * - the offset of each id's entry: 31 bits, or an index into a following table of 64-bit offsets;
 * - the checksum of the pack and the checksum of the index.
 *
 * Yields between pieces of work, so that other requests can run.
 */
function* writeIndex(store: ObjectStore, { starts, order, checksums }: Entries, packChecksum: Buffer): Steps<Buffer> {
  const count = order.length;
  const ids = Buffer.alloc(count * OID_BYTES);
  for (const [entry, number] of order.entries()) {
    store.copyOid(number, ids, entry * OID_BYTES);
    if (entry % PIECE === 0) yield PIECE_COST;
  }
  const byId = (one: number, other: number) =>
    ids.compare(ids, other * OID_BYTES, (other + 1) * OID_BYTES, one * OID_BYTES, (one + 1) * OID_BYTES);
  const sorted = yield* sortInSteps(Array.from(order.keys()), byId);
  const head = Buffer.alloc(8 + 256 * 4);
  head.writeUInt32BE(0xff744f63, 0);
  head.writeUInt32BE(2, 4);
  const fanout = new Uint32Array(256);
  for (let entry = 0; entry < count; entry++) fanout[ids[entry * OID_BYTES]!]!++;
  for (let byte = 0, sum = 0; byte < 256; byte++) {
    sum += fanout[byte]!;
    head.writeUInt32BE(sum, 8 + byte * 4);
  }
  const sortedIds = Buffer.alloc(ids.length);
  const crcs = Buffer.alloc(count * 4);
  const offsets = Buffer.alloc(count * 4);
  const wide: number[] = [];
  for (let place = 0; place < count; place++) {
    const entry = sorted[place]!;
    const start = starts[entry]!;
    ids.copy(sortedIds, place * OID_BYTES, entry * OID_BYTES, (entry + 1) * OID_BYTES);
    crcs.writeUInt32BE(checksums[entry]!, place * 4);
    if (start < LARGE_OFFSET) offsets.writeUInt32BE(start, place * 4);
    else offsets.writeUInt32BE(LARGE_OFFSET + wide.push(start) - 1, place * 4);
    if (place % PIECE === 0) yield PIECE_COST;
  }
  const wides = Buffer.alloc(wide.length * 8);
  for (const [at, start] of wide.entries()) wides.writeBigUInt64BE(BigInt(start), at * 8);
  const parts = [head, sortedIds, crcs, offsets, wides, packChecksum];
  const hash = createHash('sha1');
  for (const part of parts) {
    for (let at = 0; at < part.length; at += HASHED) {
      const piece = part.subarray(at, at + HASHED);
      hash.update(piece);
      yield piece.length * COST.byteHashed;
    }
  }
  return Buffer.concat([...parts, hash.digest()]);
}

/** Number of index bytes hashed between two yields to the event loop. */
const HASHED = 256 * 1024;
