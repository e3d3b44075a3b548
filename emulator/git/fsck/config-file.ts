import { type ByteString, bytesOf, concatBytes, joinBytes, NO_BYTES, sliceBytes } from '../object/bytes.js';

/**
 * Variable of a Git config file. `name` has the form `section.subsection.key`. `value` is undefined for a key without
 * `=`.
 */
export interface ConfigVariable {
  readonly name: ByteString;
  readonly value: ByteString | undefined;
}

/** Error at the position where Git stops parsing a config file. The variables before this position are still used. */
export class BadConfig extends Error {
  override readonly name = 'BadConfig';
}

const LINE_FEED = bytesOf('\n');
const ESCAPES: ReadonlyMap<string, ByteString> = new Map([
  ['t', bytesOf('\t')],
  ['b', bytesOf('\b')],
  ['n', LINE_FEED],
  ['\\', bytesOf('\\')],
  ['"', bytesOf('"')],
]);

/**
 * Parses a file in Git's config syntax (git-config, "Syntax") and yields its variables:
 *
 *     [section]  [section "Subsection"]  [section.subsection]
 *     key = value      ; may be quoted, escaped, and continued after a backslash at the end of the line
 *     key              # same as true
 */
export function* parseConfig(text: ByteString): IterableIterator<ConfigVariable> {
  const source = new Source(text.startsWith('\xef\xbb\xbf') ? sliceBytes(text, 3) : text);
  let section = NO_BYTES;
  for (let char = source.next(); char !== ''; char = source.next()) {
    if (isSpace(char)) continue;
    if (char === '#' || char === ';') source.skipLine();
    else if (char === '[') section = readSection(source);
    else if (/[A-Za-z]/.test(char)) yield readVariable(source, section, char);
    else throw new BadConfig();
  }
}

class Source {
  #at = 0;
  constructor(private readonly text: ByteString) {}

  /** Returns the next character; an empty string at the end of the text. CR LF is returned as a single line feed. */
  next(): ByteString {
    const char = sliceBytes(this.text, this.#at, ++this.#at);
    if (char !== '\r' || this.text[this.#at] !== '\n') return char;
    this.#at++;
    return LINE_FEED;
  }

  skipLine(): void {
    const end = this.text.indexOf('\n', this.#at);
    this.#at = end < 0 ? this.text.length : end + 1;
  }
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\n' || char === '\r' || char === '\v' || char === '\f';
}

function isLineEnd(char: string): boolean {
  return char === '\n' || char === '';
}

function readSection(source: Source): ByteString {
  const name: string[] = [];
  for (let char = source.next(); char !== ']'; char = source.next()) {
    if (isSpace(char)) return concatBytes(bytesOf(`${name.join('')}.`), readSubsection(source, char));
    if (!/[A-Za-z0-9.-]/.test(char)) throw new BadConfig();
    name.push(char.toLowerCase());
  }
  return bytesOf(name.join(''));
}

function readSubsection(source: Source, first: ByteString): ByteString {
  let char = first;
  for (; isSpace(char); char = source.next()) if (char === '\n') throw new BadConfig();
  if (char !== '"') throw new BadConfig();
  const name: ByteString[] = [];
  for (char = source.next(); char !== '"'; char = source.next()) {
    if (char === '\\') char = source.next();
    if (isLineEnd(char)) throw new BadConfig();
    name.push(char);
  }
  if (source.next() !== ']') throw new BadConfig();
  return joinBytes(name, '');
}

function readVariable(source: Source, section: ByteString, first: string): ConfigVariable {
  const key = [first];
  let char = source.next();
  for (; /[A-Za-z0-9-]/.test(char); char = source.next()) key.push(char);
  while (char === ' ' || char === '\t') char = source.next();
  const name = concatBytes(section, bytesOf(`.${key.join('').toLowerCase()}`));
  if (isLineEnd(char)) return { name, value: undefined };
  if (char !== '=') throw new BadConfig();
  return { name, value: readValue(source) };
}

function readValue(source: Source): ByteString {
  const value: ByteString[] = [];
  let spaces = 0;
  let quoted = false;
  for (let char = source.next(); ; char = source.next()) {
    if (isLineEnd(char)) {
      if (quoted) throw new BadConfig();
      return joinBytes(value, '');
    }
    if (!quoted && isSpace(char)) {
      if (value.length > 0) spaces++;
      continue;
    }
    if (!quoted && (char === ';' || char === '#')) {
      source.skipLine();
      return joinBytes(value, '');
    }
    if (spaces > 0) value.push(bytesOf(' '.repeat(spaces)));
    spaces = 0;
    if (char === '"') {
      quoted = !quoted;
      continue;
    }
    const part = char === '\\' ? readEscape(source) : char;
    // A backslash at the end of a line only continues the value on the next line. The value gets no character from it.
    if (part !== '') value.push(part);
  }
}

function readEscape(source: Source): ByteString {
  const char = source.next();
  if (isLineEnd(char)) return NO_BYTES;
  const escaped = ESCAPES.get(char);
  if (escaped === undefined) throw new BadConfig();
  return escaped;
}
