/**
 * Swaps upper-case and lower-case letters: `Ab` becomes `aB`. The result equals the name if no letter has two cases.
 */
export function swapCase(name: string): string {
  return Array.from(name, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  ).join('');
}

/** Returns names that a careless comparison could take for `name`: in other letters, shortened, and extended. */
export function namesLike(name: string): string[] {
  return [swapCase(name), name.slice(0, -1), `${name}x`];
}
