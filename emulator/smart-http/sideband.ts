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

/**
 * A stream of pieces of any size as packets of band 1, each filled to the brim: small pieces would cost
 * a packet and a write each.
 */
export async function* packBand(source: AsyncIterable<Uint8Array>, sideband: Sideband): AsyncIterable<Buffer> {
  const header = sideband === 'none' ? 0 : 5;
  const size = sideband === 'none' ? MOST_PACKET_BYTES : PACKET_BYTES[sideband];
  let bytes = Buffer.allocUnsafe(size);
  let used = header;
  const sealed = () => {
    const full = bytes.subarray(0, used);
    if (header > 0) {
      writeLength(full, used);
      full[4] = DATA;
    }
    bytes = Buffer.allocUnsafe(size);
    used = header;
    return full;
  };
  for await (const piece of source) {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + size - used);
      bytes.set(part, used);
      used += part.length;
      at += part.length;
      if (used === size) yield sealed();
    }
  }
  if (used > header) yield sealed();
}
