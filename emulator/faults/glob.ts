/** Returns `matchesGlob` for one glob, optimized for many calls. */
export function globTest(glob: string): (text: string) => boolean {
  return /[*?]/.test(glob) ? (text) => matchesGlob(glob, text) : (text) => text === glob;
}

/**
 * Returns true if `text` matches `glob`: `*` matches any number of characters, and `?` exactly one. The worst case is
 * the product of the two lengths.
 */
export function matchesGlob(glob: string, text: string): boolean {
  let at = 0;
  let place = 0;
  let star = -1;
  let resume = 0;
  while (place < text.length) {
    if (glob[at] === '*') {
      star = at++;
      resume = place;
    } else if (at < glob.length && (glob[at] === '?' || glob[at] === text[place])) {
      at++;
      place++;
    } else if (star >= 0) {
      at = star + 1;
      place = ++resume;
    } else return false;
  }
  while (glob[at] === '*') at++;
  return at === glob.length;
}
