import { AnswerCut } from '../http/answer-cut.js';
import { type CutPlace, cutBytes, flipByte, placeIn, throttle } from '../http/broken-bytes.js';
import { placeOf, type WireFaults } from './git-faults.js';
import { bandPackets, errorPacket, FATAL, FLUSH } from './pkt-line.js';
import type { PushRequest } from './push-request.js';

/** Bytes of the flush that ends a report. */
const FLUSH_BYTES = FLUSH.length;
/** Bytes of the checksum that ends a pack. */
const TRAILER_BYTES = 20;

/**
 * A pack on its way in with what was asked to go wrong. It is cut while it arrives: what a part of it is has to be told
 * from `length`, about that of the whole; 0 where it is not known, and then it ends at its first byte.
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
  // The client hears what became of a pack that is too short only when it has sent everything.
  for await (const _ of rest());
}

/** Ends the connection where that was asked for. */
export function endIncoming({ cut }: WireFaults): void {
  if (cut !== undefined && cut.how !== 'end') throw new AnswerCut(cut.how);
}

function whileArriving(place: CutPlace, length: number): CutPlace {
  if (!('fraction' in place)) return place;
  return { bytes: length > 0 ? placeIn(place, length) : 1 };
}

/** The refusal of a push before its pack is read, in the words of the protocol. */
export function refuseAll(message: string, { capabilities }: PushRequest): Buffer {
  return capabilities.has('side-band-64k')
    ? Buffer.concat(bandPackets(Buffer.from(message), FATAL, 'side-band-64k'))
    : errorPacket(message);
}

/** Characters of messages that a report has beside it: they are sent in one piece. */
const MOST_MESSAGES = 8 * 1024 * 1024;

/** A text so many times, as far as there is room. */
export function repeated(text: string, times: number): string[] {
  return Array(Math.min(times, Math.ceil(MOST_MESSAGES / (text.length + 1)))).fill(text);
}

/** The lines of a report with what was asked to go wrong; not yet in side-band. */
export function breakReport(report: Buffer, { cut, flip }: WireFaults): Buffer {
  const broken = Buffer.from(report);
  const flipped = flip && Math.min(flip.offset ?? report.length >>> 1, report.length - 1);
  if (flipped !== undefined && flipped >= 0) broken[flipped]! ^= 0xff;
  return cut === undefined ? broken : broken.subarray(0, placeIn(placeOf(cut.at, FLUSH_BYTES), broken.length));
}
