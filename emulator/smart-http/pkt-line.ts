import { type ByteString, bytesIn, bytesOf, concatBytes, latin1, sliceBytes } from '../git/object/bytes.js';

/**
 * The client broke the protocol, or asked for what cannot be had. Its message reaches the git user:
 * as an `ERR` packet in a fetch, as the `unpack` line of a push.
 */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/**
 * gitprotocol-common, pkt-line format:
 *
 *     pkt-line     = data-pkt / flush-pkt
 *     data-pkt     = pkt-len pkt-payload
 *     pkt-len      = 4*(HEXDIG)             ; counts itself, so it is the payload's length + 4
 *     flush-pkt    = "0000"
 *
 * and, in protocol version 2, delim-pkt = "0001", response-end-pkt = "0002". The longest packet has
 * 65,520 bytes. A line's final LF is not part of its content.
 */
export const MOST_PACKET_BYTES = 65_520;

export type Mark = 'flush' | 'delim' | 'response-end' | 'end';
/** A payload, or one of the packets without; `end`: the body is over. */
export type Packet = Buffer | Mark;

export const FLUSH: Buffer = Buffer.from('0000', 'latin1');
export const DELIM: Buffer = Buffer.from('0001', 'latin1');

const MARKS: readonly Mark[] = ['flush', 'delim', 'response-end'];

/** One packet around a payload. */
export function packet(payload: ByteString): Buffer {
  return Buffer.from(packetText(payload), 'latin1');
}

/** One packet as a byte string, for answers of many short lines. */
export function packetText(payload: ByteString): ByteString {
  const length = payload.length + 4;
  if (length > MOST_PACKET_BYTES) throw new RangeError(`a packet of ${length} bytes`);
  return concatBytes(digitsOf(length), payload);
}

/** One packet of a line, whose LF is added. */
export function lineText(line: ByteString): ByteString {
  const length = line.length + 5;
  if (length > MOST_PACKET_BYTES) throw new RangeError(`a packet of ${length} bytes`);
  return concatBytes(digitsOf(length), line, LF);
}

const LF = bytesOf('\n');
/** The four digits of the lengths that lines have. */
const DIGITS = Array.from({ length: 256 }, (_, length) => bytesOf(hexOf(length)));

function digitsOf(length: number): ByteString {
  return DIGITS[length] ?? bytesOf(hexOf(length));
}

function hexOf(length: number): string {
  return length.toString(16).padStart(4, '0');
}

/** The last packet of an answer that went wrong: `ERR SP explanation-text`. */
export function errorPacket(message: string): Buffer {
  const text = bytesOf(message.replaceAll(/[\r\n]+/g, ' '));
  return packet(latin1`ERR ${sliceBytes(text, 0, MOST_PACKET_BYTES - 8)}`);
}

/** Puts the four digits of a packet's length at the start of `target`. */
export function writeLength(target: Buffer, length: number): void {
  target.write(hexOf(length), 0, 'latin1');
}

/** The content of a line: without its final LF, as a byte string. */
export function lineOf(payload: Buffer): ByteString {
  const end = payload.length > 0 && payload[payload.length - 1] === 0x0a ? payload.length - 1 : payload.length;
  return bytesIn(payload, 0, end);
}

export interface PacketLimits {
  /** Most packets read before a `ProtocolError`. */
  readonly packets: number;
}

/**
 * Reads packets from a body that arrives in pieces. Holds no more than one packet and one piece, and
 * hands over what follows the packets (a pack) as it came.
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

  /** The next packet; its bytes stay valid. Throws `ProtocolError` when the body ends within one. */
  async read(): Promise<Packet> {
    if (!(await this.#has(4))) {
      if (this.#at === this.#held.length) return 'end';
      throw new ProtocolError('the remote end hung up unexpectedly');
    }
    const length = parseLength(this.#held, this.#at);
    if (--this.#left < 0) throw new ProtocolError('too many lines in one request');
    if (length < 4) {
      this.#at += 4;
      return MARKS[length]!;
    }
    if (!(await this.#has(length))) throw new ProtocolError('the remote end hung up unexpectedly');
    const payload = this.#held.subarray(this.#at + 4, this.#at + length);
    this.#at += length;
    return payload;
  }

  /** The next packet as a line, chomped. */
  async readLine(): Promise<ByteString | { readonly mark: Mark }> {
    const next = await this.read();
    return typeof next === 'string' ? { mark: next } : lineOf(next);
  }

  /** Everything behind the packets read so far, as it arrives. */
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
  // 0003 is no mark, and 0004 is a packet without payload: allowed, though senders should not.
  if (length === 3 || length > MOST_PACKET_BYTES) throw new ProtocolError(`protocol error: bad line length ${length}`);
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
