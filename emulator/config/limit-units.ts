import { duration, integer, type Read, size } from './option-values.js';

/** How a limit of each unit is read and written; anything else is a count. */
export const UNITS: Readonly<Record<string, { read: Read<number>; value: string; write: (amount: number) => string }>> =
  {
    bytes: { read: size, value: 'SIZE', write: writeSize },
    ms: { read: duration, value: 'TIME', write: writeDuration },
  };
export const COUNT = { read: integer(0), value: 'N', write: String };

function writeSize(bytes: number): string {
  for (const [unit, factor] of [
    ['GiB', 2 ** 30],
    ['MiB', 2 ** 20],
    ['KiB', 2 ** 10],
  ] as const) {
    if (bytes >= factor && bytes % factor === 0) return `${bytes / factor}${unit}`;
  }
  return String(bytes);
}

function writeDuration(milliseconds: number): string {
  return milliseconds % 1000 === 0 ? `${milliseconds / 1000}s` : `${milliseconds}ms`;
}
