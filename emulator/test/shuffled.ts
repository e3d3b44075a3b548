/** Numbers that are the same in every run, from 0 to below `bound`. */
export function randomNumbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** The lines in another order, as a file. */
export function shuffled(lines: readonly string[], seed: number): string {
  const next = randomNumbers(seed);
  const order = [...lines];
  for (let at = order.length - 1; at > 0; at--) {
    const other = next(at + 1);
    [order[at], order[other]] = [order[other]!, order[at]!];
  }
  return `${order.join('\n')}\n`;
}
