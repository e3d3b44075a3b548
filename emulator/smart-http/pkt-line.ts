import { type ByteString, bytesIn, bytesOf, concatBytes, latin1, sliceBytes } from '../git/object/bytes.js';

/**
 * Thrown if the client violates the Git protocol or requests something that does not exist. Git shows the message to
 * its user. A fetch gets it as an `ERR` packet; a push gets it in the `unpack` line of its report.
 */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/**
 * Maximum length of a packet in bytes. gitprotocol-common, pkt-line format:
 *
 *     pkt-line     = data-pkt / flush-pkt
 *     data-pkt     = pkt-len pkt-payload
 *     pkt-len      = 4*(HEXDIG)             ; counts itself, so it is the payload's length + 4
 *     flush-pkt    = "0000"
 *
 * Protocol version 2 adds delim-pkt = "0001" and response-end-pkt = "0002". The final LF of a line is not part of its
 * content.
 */
export const MAX_PACKET_BYTES = 65_520;

export type Mark = 'flush' | 'delim' | 'response-end' | 'end';
/** Payload of a packet, or the name of a packet without payload. `end` is the end of the body. */
export type Packet = Buffer | Mark;

export const FLUSH: Buffer = Buffer.from('0000', 'latin1');
export const DELIM: Buffer = Buffer.from('0001', 'latin1');

const MARKS: readonly Mark[] = ['flush', 'delim', 'response-end'];

/** Encodes a payload as one packet of the Git protocol: its length in four hexadecimal digits, then the payload. */
export function packet(payload: ByteString): Buffer {
  return Buffer.from(packetText(payload), 'latin1');
}

/** Like `packet`, but returns a byte string. Used for responses of many short lines. */
export function packetText(payload: ByteString): ByteString {
  const length = payload.length + 4;
  if (length > MAX_PACKET_BYTES) throw new RangeError(`a packet of ${length} bytes`);
  return concatBytes(digitsOf(length), payload);
}

/** Encodes a text line as one packet. Appends the final LF. */
export function lineText(line: ByteString): ByteString {
  const length = line.length + 5;
  if (length > MAX_PACKET_BYTES) throw new RangeError(`a packet of ${length} bytes`);
  return concatBytes(digitsOf(length), line, LF);
}

const LF = bytesOf('\n');
/** Length fields of packets shorter than 256 bytes, computed once. */
const DIGITS = Array.from({ length: 256 }, (_, length) => bytesOf(hexOf(length)));

function digitsOf(length: number): ByteString {
  return DIGITS[length] ?? bytesOf(hexOf(length));
}

function hexOf(length: number): string {
  return length.toString(16).padStart(4, '0');
}

/** Builds the packet that ends a failed response: `ERR SP explanation-text`. */
export function errorPacket(message: string): Buffer {
  const text = bytesOf(message.replaceAll(/[\r\n]+/g, ' '));
  return packet(latin1`ERR ${sliceBytes(text, 0, MAX_PACKET_BYTES - 8)}`);
}

/** Writes the length of a packet at the start of `target`, as four hexadecimal digits. */
export function writeLength(target: Buffer, length: number): void {
  target.write(hexOf(length), 0, 'latin1');
}

/** Returns the content of a line as a byte string, without its final LF. */
export function lineOf(payload: Buffer): ByteString {
  const end = payload.length > 0 && payload[payload.length - 1] === 0x0a ? payload.length - 1 : payload.length;
  return bytesIn(payload, 0, end);
}

export interface PacketLimits {
  /** Maximum number of packets. Above it, `ProtocolError` is thrown. */
  readonly packets: number;
}

/**
 * Reads packets from a request body while it arrives. Holds at most one packet and one received piece in memory. `rest`
 * gives access to the bytes after the packets (a pack).
 */
export class PacketReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #held: Buffer = Buffer.alloc(0);
  #at = 0;
  #ended = false;
  #left: number;

  constructor(source: AsyncIterable<Uint8Array>, limits: PacketLimits) {
    this.#source = source[Symbol.asyncIterator]();
    this.#left = limits.packets;
  }

  /**
   * Returns the next packet. Its bytes stay valid after further reads. Throws `ProtocolError` if the body ends inside a
   * packet.
   */
  async read(): Promise<Packet> {
    if (!(await this.#has(4))) {
      if (this.#at === this.#held.length) return 'end';
      throw new ProtocolError('the remote end hung up unexpectedly');
    }
    const length = parseLength(this.#held, this.#at);
    if (--this.#left < 0) throw new ProtocolError('request has too many lines');
    if (length < 4) {
      this.#at += 4;
      return MARKS[length]!;
    }
    if (!(await this.#has(length))) throw new ProtocolError('the remote end hung up unexpectedly');
    const payload = this.#held.subarray(this.#at + 4, this.#at + length);
    this.#at += length;
    return payload;
  }

  /** Returns the next packet as a line without its LF. For a packet without payload, returns its name. */
  async readLine(): Promise<ByteString | { readonly mark: Mark }> {
    const next = await this.read();
    return typeof next === 'string' ? { mark: next } : lineOf(next);
  }

  /** Yields all bytes after the packets read so far, as they arrive. */
  async *rest(): AsyncIterable<Uint8Array> {
    if (this.#at < this.#held.length) {
      const first = this.#held.subarray(this.#at);
      this.#at = this.#held.length;
      yield first;
    }
    for (;;) {
      const next = await this.#pull();
      if (!next) return;
      yield next;
    }
  }

  async #has(count: number): Promise<boolean> {
    if (this.#held.length - this.#at >= count) return true;
    const pieces = [this.#held.subarray(this.#at)];
    let size = pieces[0]!.length;
    while (size < count) {
      const next = await this.#pull();
      if (!next) break;
      pieces.push(next);
      size += next.length;
    }
    this.#held = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, size);
    this.#at = 0;
    return size >= count;
  }

  async #pull(): Promise<Buffer | undefined> {
    if (this.#ended) return undefined;
    const { done, value } = await this.#source.next();
    if (done) {
      this.#ended = true;
      return undefined;
    }
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
}

function parseLength(bytes: Buffer, at: number): number {
  let length = 0;
  for (let index = at; index < at + 4; index++) {
    const digit = digitOf(bytes[index]!);
    if (digit < 0) throw new ProtocolError(`protocol error: bad line length character: ${printable(bytes, at)}`);
    length = length * 16 + digit;
  }
  // The length 0003 is invalid, because the length includes its own four digits. The length 0004 means an empty
  // payload. It is accepted, although senders should not send it.
  if (length === 3 || length > MAX_PACKET_BYTES) throw new ProtocolError(`protocol error: bad line length ${length}`);
  return length;
}

function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function printable(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + 4).replaceAll(/[^\x20-\x7e]/g, '?');
}

/**
 * Channels (bands) of the side-band. With `side-band` or `side-band-64k`, the first byte of each packet's payload is
 * its band: 1 for pack data, 2 for progress on the user's terminal, 3 for a fatal error (gitprotocol-pack).
 */
export const DATA = 1;
export const PROGRESS = 2;
export const FATAL = 3;
export type Band = typeof DATA | typeof PROGRESS | typeof FATAL;

/** Maximum length of a packet in bytes, by side-band capability. `none` means that the data is sent without packets. */
const PACKET_BYTES = { none: 0, 'side-band': 1000, 'side-band-64k': MAX_PACKET_BYTES } as const;
export type Sideband = keyof typeof PACKET_BYTES;

/** Packet that keeps the connection alive: band 1 with no data (`0005\x01`). */
export const KEEP_ALIVE: Buffer = bandPackets(Buffer.alloc(0), DATA, 'side-band')[0]!;

/**
 * Encodes `data` as packets of one side-band channel. Without a side-band, only pack data can be sent; the result for
 * progress and errors is empty.
 */
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

/** Encodes `text` as progress packets. Git shows it on the user's terminal, preceded by `remote: `. */
export function progress(text: string, sideband: Sideband): Buffer[] {
  return bandPackets(Buffer.from(text), PROGRESS, sideband);
}

/** Number of bytes of a stream to collect before sending them, because one write per packet would be slow. */
const GATHERED_BYTES = 4 * MAX_PACKET_BYTES;

/**
 * Encodes a stream as packets of band 1. All packets except the last have the maximum length. Yields several whole
 * packets at a time.
 */
export async function* packBand(source: AsyncIterable<Uint8Array>, sideband: Sideband): AsyncIterable<Buffer> {
  const room = sideband === 'none' ? GATHERED_BYTES : PACKET_BYTES[sideband] - 5;
  // Number of bytes to collect. Rounded down to a multiple of a packet's payload length, so that all packets except the
  // last are full.
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

/** Encodes the first `length` bytes of `pieces` as packets with up to `room` bytes of payload each. */
function framed(pieces: readonly Uint8Array[], length: number, room: number, sideband: Sideband): Buffer {
  const header = sideband === 'none' ? 0 : 5;
  const framed = Buffer.allocUnsafe(length + Math.ceil(length / room) * header);
  let left = length;
  let at = 0;
  /** Offset in the result of the end of the current packet. */
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
