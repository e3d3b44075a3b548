import { type CutPlace, cutBytes, flipByte, placeIn, throttle } from '../http/broken-bytes.js';
import { ResponseCut } from '../http/response-cut.js';
import { placeOf, type WireFaults } from './git-faults.js';
import { bandPackets, errorPacket, FATAL, FLUSH } from './pkt-line.js';
import type { PushRequest } from './push-request.js';

/** Length in bytes of the flush packet at the end of a push's status report. */
const FLUSH_BYTES = FLUSH.length;
/** Length in bytes of the checksum at the end of a pack. */
const TRAILER_BYTES = 20;

/**
 * Yields the pack of a push as it arrives, changed by the injected faults (errors that a test asked for). If a fault
 * gives its position as a fraction, the position is computed from `length`, because the end of the pack is not known
 * yet. `length` is the approximate length of the whole pack in bytes. If it is 0 (unknown), the pack is cut after its
 * first byte.
 */
export async function* breakIncoming(
  rest: () => AsyncIterable<Uint8Array>,
  wire: WireFaults,
  length: number,
): AsyncGenerator<Uint8Array> {
  const { cut, flip, bytesPerSecond } = wire;
  let pack = bytesPerSecond === undefined ? rest() : throttle(rest(), bytesPerSecond);
  if (flip !== undefined) pack = flipByte(pack, flip.offset);
  if (cut === undefined) {
    yield* pack;
    return;
  }
  yield* cutBytes(pack, whileArriving(placeOf(cut.at, TRAILER_BYTES), length));
  endIncoming(wire);
  // Discards the rest of the pack, because the client reads the report only after it has sent the whole pack.
  for await (const _ of rest());
}

/** Throws `ResponseCut` if a `cut` fault ends the connection while the pack arrives. */
export function endIncoming({ cut }: WireFaults): void {
  if (cut !== undefined && cut.how !== 'end') throw new ResponseCut(cut.how);
}

/** Converts a fraction of a pack to a number of bytes, because the end of the pack is not known while it arrives. */
function whileArriving(place: CutPlace, length: number): CutPlace {
  if (!('fraction' in place)) return place;
  return { bytes: length > 0 ? placeIn(place, length) : 1 };
}

/**
 * Builds the response that refuses a push before its pack is read. It is a fatal error on side-band channel 3, or an
 * `ERR` packet if the client does not support the side-band.
 */
export function refuseAll(message: string, { capabilities }: PushRequest): Buffer {
  return capabilities.has('side-band-64k')
    ? Buffer.concat(bandPackets(Buffer.from(message), FATAL, 'side-band-64k'))
    : errorPacket(message);
}

/**
 * Maximum number of characters of all progress messages that a fault adds to the status report. They are sent in one
 * piece, so all of them are in memory at once.
 */
const MAX_MESSAGES = 8 * 1024 * 1024;

/** Returns an array of `times` copies of `text`. Has fewer copies if the total would exceed `MAX_MESSAGES`. */
export function repeated(text: string, times: number): string[] {
  return Array(Math.min(times, Math.ceil(MAX_MESSAGES / (text.length + 1)))).fill(text);
}

/** Applies the injected faults to the status report of a push, before it is framed for the side-band. */
export function breakReport(report: Buffer, { cut, flip }: WireFaults): Buffer {
  const broken = Buffer.from(report);
  const flipped = flip && Math.min(flip.offset ?? report.length >>> 1, report.length - 1);
  if (flipped !== undefined && flipped >= 0) broken[flipped]! ^= 0xff;
  return cut === undefined ? broken : broken.subarray(0, placeIn(placeOf(cut.at, FLUSH_BYTES), broken.length));
}
