import { BLOB, TREE } from '../git/object/object.js';
import type { ObjectStore } from '../git/odb/object-store.js';
import { type PackOptions, writePack } from '../git/pack-objects/pack-writer.js';
import { AnswerCut } from '../http/answer-cut.js';
import { cutBytes, flipByte, throttle } from '../http/broken-bytes.js';
import type { PackRequest } from './fetch-request.js';
import { placeOf, type WireFaults } from './git-faults.js';
import { bandPackets, FATAL, FLUSH, packBand, progress } from './pkt-line.js';

/** Bytes of the checksum that ends a pack. */
const TRAILER_BYTES = 20;
/** Packets of progress that are sent in one piece. */
const LINES_AT_ONCE = 100;

/** A pack that is yet to be written. */
export interface PreparedPack {
  readonly numbers: Int32Array;
  readonly options: PackOptions;
}

/**
 * The packfile section with what was asked to go wrong. Offsets count the bytes of the pack, whatever packets they
 * travel in. It is written anew and not kept, so that no other client meets it.
 */
export async function* sendBrokenPack(
  { view, sideband }: PackRequest,
  { numbers, options }: PreparedPack,
  wire: WireFaults,
): AsyncIterable<Uint8Array> {
  const { objects } = view.repository;
  for (const { text, times } of wire.progress) {
    const line = progress(`${text}\n`, sideband);
    for (let sent = 0; sent < times; sent += LINES_AT_ONCE) {
      yield Buffer.concat(
        Array(Math.min(LINES_AT_ONCE, times - sent))
          .fill(line)
          .flat(),
      );
    }
  }
  if (wire.fatal !== undefined) {
    yield* bandPackets(Buffer.from(wire.fatal), FATAL, sideband);
    return;
  }
  const { cut, flip, dropObject, bytesPerSecond } = wire;
  const sent = dropObject === undefined ? numbers : withoutOne(objects, numbers, dropObject);
  const starts: number[] = [];
  const isCutAtObject = cut?.at?.objects !== undefined && cut.at.objects < sent.length;
  let pack: AsyncIterable<Uint8Array> = writePack(objects, sent, {
    ...options,
    ...(isCutAtObject && { onEntry: (start: number) => starts.push(start) }),
  });
  if (flip !== undefined) pack = flipByte(pack, flip.offset);
  if (isCutAtObject) pack = cutAtEntry(pack, starts, cut.at.objects!);
  else if (cut !== undefined)
    pack = cutBytes(pack, cut.at?.objects === undefined ? placeOf(cut.at, TRAILER_BYTES) : END);
  const packets = packBand(pack, sideband);
  yield* bytesPerSecond === undefined ? packets : throttle(packets, bytesPerSecond);
  if (cut !== undefined && cut.how !== 'end') throw new AnswerCut(cut.how);
  if (sideband !== 'none') yield FLUSH;
}

/** Of a pack with fewer objects than it is to be cut after, the checksum is missing. */
const END = { beforeEnd: TRAILER_BYTES };

/** Up to where the entry `index` starts. Its start is known before its first byte comes. */
async function* cutAtEntry(
  pack: AsyncIterable<Uint8Array>,
  starts: readonly number[],
  index: number,
): AsyncIterable<Uint8Array> {
  let at = 0;
  for await (const piece of pack) {
    const end = starts[index];
    if (end !== undefined && end <= at + piece.length) {
      if (end > at) yield piece.subarray(0, end - at);
      return;
    }
    yield piece;
    at += piece.length;
  }
}

/** The numbers without a blob, the `index`-th of them or the last; a tree where there is none. Commits stay: what is missed is found late. */
function withoutOne(objects: ObjectStore, numbers: Int32Array, index: number): Int32Array {
  for (const type of [BLOB, TREE]) {
    let left = index;
    let chosen: number | undefined;
    for (const number of numbers) {
      if (objects.typeOf(number) !== type) continue;
      chosen = number;
      if (left-- === 0) break;
    }
    if (chosen !== undefined) return numbers.filter((number) => number !== chosen);
  }
  return numbers;
}
