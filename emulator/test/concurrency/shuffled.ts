import { randomNumbers } from '../../git/test/random-numbers.js';

/** Returns the lines in random order as the text of a file. The same seed gives the same order. */
export function shuffled(lines: readonly string[], seed: number): string {
  const next = randomNumbers(seed);
  const order = [...lines];
  for (let at = order.length - 1; at > 0; at--) {
    const other = next(at + 1);
    [order[at], order[other]] = [order[other]!, order[at]!];
  }
  return `${order.join('\n')}\n`;
}
