import { MOST_PACKET_BYTES, writeLength } from './pkt-line.js';

/**
 * gitprotocol-pack: with `side-band` or `side-band-64k` each packet of the answer starts with a byte
 * that says what the rest is: 1 pack data, 2 progress for the user's terminal, 3 a fatal error.
 */
export const DATA = 1;
export const PROGRESS = 2;
export const FATAL = 3;
export type Band = typeof DATA | typeof PROGRESS | typeof FATAL;

/** Largest packet by capability; `none`: no side-band, the data goes out as it is. */
const PACKET_BYTES = { none: 0, 'side-band': 1000, 'side-band-64k': MOST_PACKET_BYTES } as const;
export type Sideband = keyof typeof PACKET_BYTES;

/** A packet that says only that the server is alive: `0005\x01`. */
export const KEEP_ALIVE: Buffer = bandPackets(Buffer.alloc(0), DATA, 'side-band')[0]!;

/** `data` in packets of one band. Progress and errors have no place without side-band: nothing. */
export function bandPackets(data: Uint8Array, band: Band, sideband: Sideband): Buffer[] {
  if (sideband === 'none') return band === DATA ? [Buffer.from(data)] : [];
  const room = PACKET_BYTES[sideband] - 5;
  const packets: Buffer[] = [];
  for (let at = 0; at === 0 || at < data.length; at += room) {
    const part = data.subarray(at, at + room);
    const bytes = Buffer.allocUnsafe(part.length + 5);
    writeLength(bytes, bytes.length);
    bytes[4] = band;
    bytes.set(part, 5);
    packets.push(bytes);
  }
  return packets;
}

/** `text` for the user's terminal, where git shows it behind `remote: `. */
export function progress(text: string, sideband: Sideband): Buffer[] {
  return bandPackets(Buffer.from(text), PROGRESS, sideband);
}

/** Bytes gathered before they are passed on: a packet at a time would be a write each. */
const GATHERED_BYTES = 4 * MOST_PACKET_BYTES;

/**
 * A stream of pieces of any size as packets of band 1, each but the last filled to the brim. Whole packets only are
 * passed on, several in one piece.
 */
export async function* packBand(source: AsyncIterable<Uint8Array>, sideband: Sideband): AsyncIterable<Buffer> {
  const room = sideband === 'none' ? GATHERED_BYTES : PACKET_BYTES[sideband] - 5;
  // Whole packets: what is left over is always within the piece that came last.
  const enough = GATHERED_BYTES - (GATHERED_BYTES % room);
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of source) {
    waiting.push(piece);
    bytes += piece.length;
    if (bytes < enough) continue;
    const rest = bytes % room;
    yield framed(waiting, bytes - rest, room, sideband);
    waiting = rest > 0 ? [piece.subarray(piece.length - rest)] : [];
    bytes = rest;
  }
  if (bytes > 0) yield framed(waiting, bytes, room, sideband);
}

/** The first `length` bytes of `pieces` in packets with `room` bytes each. */
function framed(pieces: readonly Uint8Array[], length: number, room: number, sideband: Sideband): Buffer {
  const header = sideband === 'none' ? 0 : 5;
  const framed = Buffer.allocUnsafe(length + Math.ceil(length / room) * header);
  let left = length;
  let at = 0;
  /** Where the packet under way ends. */
  let end = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length && left > 0; ) {
      if (at === end) {
        end = at + header + Math.min(room, left);
        if (header > 0) {
          writeLength(framed.subarray(at), end - at);
          framed[at + 4] = DATA;
        }
        at += header;
      }
      const part = piece.subarray(from, from + end - at);
      framed.set(part, at);
      from += part.length;
      at += part.length;
      left -= part.length;
    }
  }
  return framed;
}
