import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';

/** Maximum time in milliseconds that a test waits until the web page shows the expected value. */
const PATIENCE_MS = 10_000;

/**
 * Calls `read` repeatedly until its result equals `expected`, because the web page updates asynchronously. Fails the
 * test after a timeout.
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
 * Calls `read` repeatedly until its result matches `pattern`, because the web page updates asynchronously. A string
 * matches if the result contains it.
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

/**
 * Calls `read` repeatedly until `isThere` accepts the result or the timeout is over. Returns the last result in both
 * cases.
 */
async function settled<T>(read: () => Promise<T>, isThere: (value: T) => boolean): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  let value = await read();
  while (!isThere(value) && performance.now() < end) {
    await pause(25);
    value = await read();
  }
  return value;
}
