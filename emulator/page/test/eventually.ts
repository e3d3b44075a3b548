import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';

/** Maximum time in milliseconds that a test waits for a value on the web page. */
const PATIENCE_MS = 10_000;

/**
 * Calls `read` until its result equals `expected`, because the web page updates asynchronously. Fails the test after a
 * timeout.
 */
export async function eventuallyEquals<T>(
  t: Test,
  read: () => Promise<T>,
  expected: T,
  name = 'is shown',
): Promise<void> {
  t.equal(await settled(read, (value) => value === expected), expected, name);
}

/**
 * Calls `read` until its result matches `pattern`, because the web page updates asynchronously. A string pattern
 * matches if the result contains it. Fails the test after a timeout.
 */
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

/** Calls `read` until `isThere` returns true for its result, or until the timeout. Returns the last result. */
async function settled<T>(read: () => Promise<T>, isThere: (value: T) => boolean): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  let value = await read();
  while (!isThere(value) && performance.now() < end) {
    await pause(25);
    value = await read();
  }
  return value;
}
