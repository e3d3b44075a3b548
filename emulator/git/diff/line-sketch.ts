import { isSpace } from './white-space.js';

const SPACE = 32;

/** Sketches are below it. */
export const SKETCHES = 4096;

/** A glance at both ends of a line. Lines that are equal, white space aside, have equal sketches; most others do not. */
export function sketchLine(bytes: Buffer, start: number, end: number): number {
  let first = start;
  let last = end - 1;
  while (last >= first && isSpace(bytes[last]!)) last--;
  while (first < last && isSpace(bytes[first]!)) first++;
  if (last < first) return 0;
  const ends = bytes[first]! * 7 + bytes[last]! * 61;
  if (last - first < 2) return ends & (SKETCHES - 1);
  return (ends + plain(bytes[first + 1]!) * 211 + plain(bytes[last - 1]!) * 1021) & (SKETCHES - 1);
}

function plain(byte: number): number {
  return isSpace(byte) ? SPACE : byte;
}
