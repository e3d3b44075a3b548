import type { EndedTest } from './test-namespaces.js';

/** What is thrown behind a test that failed, for runners that show every error of a test with it. */
export function failureOf({ broken, requests }: EndedTest): Error | undefined {
  if (broken.length + requests.length === 0) return undefined;
  const error = new Error([...broken, ...requests].join('\n'));
  // Where it was thrown is of no use to the reader.
  error.stack = `Error: ${error.message}`;
  return error;
}
