import { BLOB, TREE } from '../git/object/object.js';
import type { ObjectStore } from '../git/odb/object-store.js';
import { type PackOptions, writePack } from '../git/pack-objects/pack-writer.js';
import { cutBytes, flipByte } from '../http/broken-bytes.js';
import { slowed } from '../http/broken-response.js';
import { ResponseCut } from '../http/response-cut.js';
import type { PackRequest } from './fetch-request.js';
import { placeOf, type WireFaults } from './git-faults.js';
import { bandPackets, FATAL, FLUSH, packBand, progress } from './pkt-line.js';

/** Length in bytes of the checksum at the end of a pack. */
const TRAILER_BYTES = 20;
/** Number of progress packets that form one chunk of the response. */
const LINES_AT_ONCE = 100;

/**
 * Pack that is not written yet: the numbers of its objects (indexes into the tables of the object store), and options
 * for writing it.
 */
export interface PreparedPack {
  readonly numbers: Int32Array;
  readonly options: PackOptions;
}

/**
 * Sends the packfile section of a fetch response with the injected faults (errors that a test asked for), for example
 * truncated. Offsets of faults count the bytes of the pack, without the packet framing. The pack is written anew and
 * not cached, so that no other client receives a broken pack.
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
  const { cut, flip, dropObject } = wire;
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
  yield* slowed(packets, wire);
  if (cut !== undefined && cut.how !== 'end') throw new ResponseCut(cut.how);
  if (sideband !== 'none') yield FLUSH;
}

/** Position of a cut after a number of objects that the pack does not have: just before the checksum at the end. */
const END = { beforeEnd: TRAILER_BYTES };

/**
 * Yields the bytes of a pack up to the start of its object entry `index`. The pack writer appends the offset of each
 * entry to `starts` before it yields the entry's first byte.
 */
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

/**
 * Removes one object from the list of objects to send: the `index`-th blob, or the last one if there are fewer. Removes
 * a tree if there is no blob. Never removes a commit, so that the client notices the missing object only after it has
 * indexed the pack.
 */
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
