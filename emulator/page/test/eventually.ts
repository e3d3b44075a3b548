import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';

/** Maximum time for a page to show something, in milliseconds. */
const PATIENCE_MS = 10_000;

/** Reads repeatedly until the value equals the expected one, because the page updates asynchronously. */
export async function eventuallyEquals<T>(
  t: Test,
  read: () => Promise<T>,
  expected: T,
  name = 'is shown',
): Promise<void> {
  t.equal(await settled(read, (value) => value === expected), expected, name);
}

/** Like `eventuallyEquals` for a pattern; a string must be contained in the value. */
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

/** Returns the last value read: the expected one, or the one at the timeout. */
async function settled<T>(read: () => Promise<T>, isThere: (value: T) => boolean): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  let value = await read();
  while (!isThere(value) && performance.now() < end) {
    await pause(25);
    value = await read();
  }
  return value;
}
