import { setTimeout } from 'node:timers/promises';

type Bytes = AsyncIterable<Uint8Array>;

/**
 * Bytes held back until it is known that they come before the place that is looked for: where it depends on how long
 * the whole is, half of it at the most. Past this many, the whole counts as no longer than what was read of it.
 */
const MAX_HELD = 64 * 1024 * 1024;

/** Where a payload ends before its end. */
export type CutPlace =
  | { readonly bytes: number }
  /** 0 to 1 of the whole. */
  | { readonly fraction: number }
  /** So many bytes before the end. */
  | { readonly beforeEnd: number };

export function placeIn(place: CutPlace, length: number): number {
  if ('bytes' in place) return Math.min(place.bytes, length);
  return 'fraction' in place ? Math.floor(length * place.fraction) : Math.max(0, length - place.beforeEnd);
}

/** What comes before the place. */
export async function* cutBytes(source: Bytes, place: CutPlace): AsyncGenerator<Uint8Array> {
  const isFixed = 'bytes' in place;
  if (isFixed && place.bytes === 0) return;
  const held = new HeldBytes();
  for await (const piece of source) {
    held.add(piece);
    yield* held.takeUntil(placeIn(place, held.end));
    if (isFixed ? held.start === place.bytes : held.length > MAX_HELD) return;
  }
}

/** The byte at `offset` has all its bits turned: without an offset that in the middle, past the end the last one. */
export async function* flipByte(source: Bytes, offset?: number): AsyncGenerator<Uint8Array> {
  const held = new HeldBytes();
  let isFlipped = false;
  for await (const piece of source) {
    held.add(piece);
    if (!isFlipped) {
      yield* held.takeUntil(offset === undefined ? held.end >>> 1 : Math.min(offset, held.end - 1));
      isFlipped = offset === undefined ? held.length > MAX_HELD : held.start === offset && held.length > 0;
      if (isFlipped) held.flipFirst();
    }
    if (isFlipped) yield* held.takeUntil(held.end);
  }
  if (!isFlipped) held.flipFirst();
  yield* held.takeUntil(held.end);
}

/** Slices a second of a payload that is throttled, where it has as many bytes. */
const SLICES = 20;

/** So many bytes a second of real time, one by one where they are few. */
export async function* throttle(source: Bytes, bytesPerSecond: number): AsyncGenerator<Uint8Array> {
  const max = Math.max(1, Math.floor(bytesPerSecond / SLICES));
  for await (const piece of source) {
    for (let at = 0; at < piece.length; at += max) {
      const slice = piece.subarray(at, at + max);
      yield slice;
      await setTimeout((slice.length * 1000) / bytesPerSecond);
    }
  }
}

/** A queue of bytes that knows their places in the whole. */
class HeldBytes {
  /** Place of the first byte that is held, and of the one that comes next. */
  start = 0;
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
    const left = place - this.start;
    if (left <= 0) return;
    const piece = this.#pieces[0]!;
    this.#pieces[0] = piece.subarray(left);
    this.start = place;
    yield piece.subarray(0, left);
  }

  flipFirst(): void {
    const first = this.#pieces[0];
    if (first === undefined) return;
    // Others may hold the same bytes.
    const copy = Uint8Array.from(first);
    copy[0]! ^= 0xff;
    this.#pieces[0] = copy;
  }
}
