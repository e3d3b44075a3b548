import type { ByteString } from '../../bytes.js';

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  '"': '"',
  '\\': '\\',
};

const ESCAPE = /\\(?:([0-3][0-7]{2})|([abtnvfr"\\]))/g;
const QUOTED = /^"((?:[^"\\]|\\(?:[0-3][0-7]{2}|[abtnvfr"\\]))*)"/;

/** A name in double quotes with C escapes, as Git writes unusual names; `length` is what it takes of `text`. */
export function unquoteName(text: ByteString): { name: ByteString; length: number } | undefined {
  const quoted = QUOTED.exec(text);
  if (!quoted) return undefined;
  const name = quoted[1]!.replace(ESCAPE, (_, octal: string | undefined, letter: string) =>
    octal ? String.fromCharCode(Number.parseInt(octal, 8)) : ESCAPES[letter]!,
  );
  return { name, length: quoted[0].length };
}

/** `name` without its first `count` folders; undefined when it has fewer, or is absolute. */
export function stripFolders(name: ByteString, count: number): ByteString | undefined {
  let rest = name;
  for (let left = count; left > 0; left--) {
    const slash = rest.indexOf('/');
    if (slash < 0 || (slash === 0 && left === count)) return undefined;
    rest = rest.slice(slash + 1);
  }
  return rest.startsWith('/') ? undefined : rest;
}

/** The name in a header line, which ends at the line's end or, with `endsAtTab`, at a tab. */
export function readName(text: ByteString, strip: number, endsAtTab: boolean): ByteString | undefined {
  const quoted = unquoteName(text);
  const tab = endsAtTab ? text.indexOf('\t') : -1;
  const name = quoted ? quoted.name : tab < 0 ? text : text.slice(0, tab);
  return stripFolders(name, strip)?.replace(/\/{2,}/g, '/') || undefined;
}

/**
 * The name that both halves of a `diff --git` line agree on, or undefined: renames have theirs on lines of
 * their own. A name may hold spaces, so the line is cut where both halves come out equal.
 */
export function commonName(halves: ByteString, strip: number): ByteString | undefined {
  const first = unquoteName(halves);
  if (first) {
    const second = unquoteName(halves.slice(first.length).trimStart());
    return second && agreed(first.name, second.name, strip);
  }
  const quote = halves.indexOf('"');
  if (quote > 0) {
    const second = unquoteName(halves.slice(quote));
    return second && agreed(halves.slice(0, quote).trimEnd(), second.name, strip);
  }
  // Equal names behind prefixes of equal length meet in the middle; of other lengths, elsewhere.
  for (let at = nextSpace(halves, 0); at >= 0; at = nextSpace(halves, at + 1)) {
    const name = stripFolders(halves.slice(0, at), strip);
    const length = name?.length ?? 0;
    if (length === 0 || !halves.endsWith(name!)) continue;
    if (stripFolders(halves.slice(at + 1), strip) === name) return name;
  }
  return undefined;
}

function agreed(a: ByteString, b: ByteString, strip: number): ByteString | undefined {
  const name = stripFolders(a, strip);
  return name !== undefined && name === stripFolders(b, strip) ? name : undefined;
}

function nextSpace(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (text[at] === ' ' || text[at] === '\t') return at;
  return -1;
}
