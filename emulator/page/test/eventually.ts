import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';

/** How long a page may take to show something. */
const PATIENCE_MS = 10_000;

/** Reads until it is equal: a page shows what was asked for when its answer has come. */
export async function eventuallyEquals<T>(
  t: Test,
  read: () => Promise<T>,
  expected: T,
  name = 'is shown',
): Promise<void> {
  t.equal(await settled(read, (value) => value === expected), expected, name);
}

/** As `eventuallyEquals`; a string is to be in what is read. */
export async function eventuallyMatches(
  t: Test,
  read: () => Promise<string | null>,
  pattern: RegExp | string,
  name = 'is shown',
): Promise<void> {
  const isMatch = (text: string | null) =>
    text !== null && (typeof pattern === 'string' ? text.includes(pattern) : pattern.test(text));
  t.match(await settled(read, isMatch), pattern, name);
}

/** What was read last, which is what was to be there, if it came in time. */
async function settled<T>(read: () => Promise<T>, isThere: (value: T) => boolean): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  let value = await read();
  while (!isThere(value) && performance.now() < end) {
    await pause(25);
    value = await read();
  }
  return value;
}
