import { setImmediate, setTimeout } from 'node:timers/promises';

type Bytes = AsyncIterable<Uint8Array>;

/**
 * Maximum number of bytes that are buffered while the length of the payload is unknown. A cut at a fraction of the
 * payload, or at a distance from its end, depends on this length. Each byte is therefore buffered until it certainly
 * precedes the cut.
 *
 * If the buffer is full, the last byte read counts as the end of the payload.
 */
const MAX_BUFFERED = 64 * 1024 * 1024;

/** Position at which a payload is cut. */
export type CutPlace =
  | { readonly bytes: number }
  /** Position as a fraction of the payload, from 0 to 1. */
  | { readonly fraction: number }
  /** Position as the number of bytes before the end of the payload. */
  | { readonly beforeEnd: number };

/** Returns the byte offset of the cut in a payload of `length` bytes. */
export function placeIn(place: CutPlace, length: number): number {
  if ('bytes' in place) return Math.min(place.bytes, length);
  return 'fraction' in place ? Math.floor(length * place.fraction) : Math.max(0, length - place.beforeEnd);
}

/** Yields the bytes of `source` before the cut, and does not read the rest. */
export async function* cutBytes(source: Bytes, place: CutPlace): AsyncGenerator<Uint8Array> {
  const isFixed = 'bytes' in place;
  if (isFixed && place.bytes === 0) return;
  const queue = new ByteQueue();
  for await (const piece of source) {
    queue.add(piece);
    yield* queue.takeUntil(placeIn(place, queue.end));
    if (isFixed ? queue.start === place.bytes : queue.length > MAX_BUFFERED) return;
  }
}

/**
 * Yields the payload with all bits of one byte inverted. `offset` selects the byte; the default is the byte in the
 * middle. If `offset` is past the end, the last byte is inverted.
 */
export async function* flipByte(source: Bytes, offset?: number): AsyncGenerator<Uint8Array> {
  const queue = new ByteQueue();
  let isFlipped = false;
  for await (const piece of source) {
    queue.add(piece);
    if (!isFlipped) {
      yield* queue.takeUntil(offset === undefined ? queue.end >>> 1 : Math.min(offset, queue.end - 1));
      isFlipped = offset === undefined ? queue.length > MAX_BUFFERED : queue.start === offset && queue.length > 0;
      if (isFlipped) queue.flipFirst();
    }
    if (isFlipped) yield* queue.takeUntil(queue.end);
  }
  if (!isFlipped) queue.flipFirst();
  yield* queue.takeUntil(queue.end);
}

/** Number of slices that a throttled payload sends per second. A slice has at least one byte. */
const SLICES_PER_SECOND = 20;

/** Yields the payload at a rate of `bytesPerSecond` bytes per second of real time. */
export async function* throttle(source: Bytes, bytesPerSecond: number): AsyncGenerator<Uint8Array> {
  const sliceLength = Math.max(1, Math.floor(bytesPerSecond / SLICES_PER_SECOND));
  for await (const piece of source) {
    for (let at = 0; at < piece.length; at += sliceLength) {
      const slice = piece.subarray(at, at + sliceLength);
      yield slice;
      await setTimeout((slice.length * 1000) / bytesPerSecond);
    }
  }
}

/** Sizes of the pieces of a sliced payload in bytes, and the pause after each piece in milliseconds of real time. */
export interface Slices {
  readonly size: number;
  readonly pause: number;
}

/** Yields the payload in pieces of at most `size` bytes, and waits after each piece. */
export async function* sliced(source: Bytes, { size, pause }: Slices): AsyncGenerator<Uint8Array> {
  for await (const piece of source) {
    for (let at = 0; at < piece.length; at += size) {
      yield piece.subarray(at, at + size);
      // Waits for a turn of the event loop even without a pause, so that the pieces are written separately.
      await (pause === 0 ? setImmediate() : setTimeout(pause));
    }
  }
}

/** Queue of payload bytes that knows the offset of each byte in the whole payload. */
class ByteQueue {
  /** Payload offset of the first byte in the queue. */
  start = 0;
  /** Payload offset of the next byte to be added. */
  end = 0;
  #pieces: Uint8Array[] = [];

  get length(): number {
    return this.end - this.start;
  }

  add(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.end += piece.length;
  }

  *takeUntil(place: number): Generator<Uint8Array> {
    let count = 0;
    for (const piece of this.#pieces) {
      if (this.start + piece.length > place) break;
      count++;
      this.start += piece.length;
      yield piece;
    }
    this.#pieces.splice(0, count);
    const remaining = place - this.start;
    if (remaining <= 0) return;
    const piece = this.#pieces[0]!;
    this.#pieces[0] = piece.subarray(remaining);
    this.start = place;
    yield piece.subarray(0, remaining);
  }

  flipFirst(): void {
    const first = this.#pieces[0];
    if (first === undefined) return;
    // Copies the piece before changing its first byte, because other code may hold a reference to the original.
    const copy = Uint8Array.from(first);
    copy[0]! ^= 0xff;
    this.#pieces[0] = copy;
  }
}
