/**
 * Returns a function that tests texts against one glob. Faster than repeated calls of `matchesGlob`, because a glob
 * without wildcards becomes a plain comparison.
 */
export function globTest(glob: string): (text: string) => boolean {
  return /[*?]/.test(glob) ? (text) => matchesGlob(glob, text) : (text) => text === glob;
}

/**
 * Returns true if `glob` matches the whole `text`. `*` matches any number of characters, and `?` matches exactly one.
 * Backtracks only to the last `*`, so the time is at most proportional to the product of both lengths.
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
