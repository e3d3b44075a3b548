import { randomNumbers } from '../../git/test/random-numbers.js';

/** Returns the lines in a random order that depends only on the seed, joined as the text of a file. */
export function shuffled(lines: readonly string[], seed: number): string {
  const next = randomNumbers(seed);
  const order = [...lines];
  for (let at = order.length - 1; at > 0; at--) {
    const other = next(at + 1);
    [order[at], order[other]] = [order[other]!, order[at]!];
  }
  return `${order.join('\n')}\n`;
}
