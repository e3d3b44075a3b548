import { type CutPlace, cutBytes, flipByte, placeIn, throttle } from '../http/broken-bytes.js';
import { ResponseCut } from '../http/response-cut.js';
import { placeOf, type WireFaults } from './git-faults.js';
import { bandPackets, errorPacket, FATAL, FLUSH } from './pkt-line.js';
import type { PushRequest } from './push-request.js';

/** Length in bytes of the flush packet that ends a report. */
const FLUSH_BYTES = FLUSH.length;
/** Length in bytes of the checksum that ends a pack. */
const TRAILER_BYTES = 20;

/**
 * Passes on a received pack with the injected faults. It is cut while it is received, so a fraction is computed from
 * `length`, the approximate length of the whole pack. If `length` is 0 (unknown), the pack is cut after its first byte.
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
  // The client reads the report about a truncated pack only after it has sent everything, so the rest is read and
  // discarded.
  for await (const _ of rest());
}

/** Closes the connection if a `cut` fault requires it. */
export function endIncoming({ cut }: WireFaults): void {
  if (cut !== undefined && cut.how !== 'end') throw new ResponseCut(cut.how);
}

function whileArriving(place: CutPlace, length: number): CutPlace {
  if (!('fraction' in place)) return place;
  return { bytes: length > 0 ? placeIn(place, length) : 1 };
}

/** Builds the response that refuses a push before its pack is read, in the form that the protocol prescribes. */
export function refuseAll(message: string, { capabilities }: PushRequest): Buffer {
  return capabilities.has('side-band-64k')
    ? Buffer.concat(bandPackets(Buffer.from(message), FATAL, 'side-band-64k'))
    : errorPacket(message);
}

/** Maximum characters of the messages beside a report, because they are sent in one piece. */
const MAX_MESSAGES = 8 * 1024 * 1024;

/** Repeats a text `times` times, as far as the limit allows. */
export function repeated(text: string, times: number): string[] {
  return Array(Math.min(times, Math.ceil(MAX_MESSAGES / (text.length + 1)))).fill(text);
}

/** Applies the injected faults to the lines of a report, before side-band framing. */
export function breakReport(report: Buffer, { cut, flip }: WireFaults): Buffer {
  const broken = Buffer.from(report);
  const flipped = flip && Math.min(flip.offset ?? report.length >>> 1, report.length - 1);
  if (flipped !== undefined && flipped >= 0) broken[flipped]! ^= 0xff;
  return cut === undefined ? broken : broken.subarray(0, placeIn(placeOf(cut.at, FLUSH_BYTES), broken.length));
}
