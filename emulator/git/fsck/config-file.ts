import type { ByteString } from '../object/bytes.js';

/** One line of a config file: `name` is `section.subsection.key`, `value` undefined when there is no `=`. */
export interface ConfigVariable {
  readonly name: ByteString;
  readonly value: ByteString | undefined;
}

/** Thrown where Git gives up on a config file; what came before it counts. */
export class BadConfig extends Error {
  override readonly name = 'BadConfig';
}

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', '\\': '\\', '"': '"' };

/**
 * Reads Git's config syntax (git-config, "Syntax"):
 *
 *     [section]  [section "Subsection"]  [section.subsection]
 *     key = value      ; a value may be quoted, escaped, and go on after a backslash at the end of its line
 *     key              # the same as true
 */
export function* parseConfig(text: ByteString): IterableIterator<ConfigVariable> {
  const source = new Source(text.startsWith('\xef\xbb\xbf') ? text.slice(3) : text);
  let section = '';
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

  /** The next character, CRLF as a line feed; empty at the end. */
  next(): string {
    let char = this.text.charAt(this.#at++);
    if (char === '\r' && this.text[this.#at] === '\n') {
      this.#at++;
      char = '\n';
    }
    return char;
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
    if (isSpace(char)) return `${name.join('')}.${readSubsection(source, char)}`;
    if (!/[A-Za-z0-9.-]/.test(char)) throw new BadConfig();
    name.push(char.toLowerCase());
  }
  return name.join('');
}

function readSubsection(source: Source, first: string): ByteString {
  let char = first;
  for (; isSpace(char); char = source.next()) if (char === '\n') throw new BadConfig();
  if (char !== '"') throw new BadConfig();
  const name: string[] = [];
  for (char = source.next(); char !== '"'; char = source.next()) {
    if (char === '\\') char = source.next();
    if (isLineEnd(char)) throw new BadConfig();
    name.push(char);
  }
  if (source.next() !== ']') throw new BadConfig();
  return name.join('');
}

function readVariable(source: Source, section: ByteString, first: string): ConfigVariable {
  const key = [first];
  let char = source.next();
  for (; /[A-Za-z0-9-]/.test(char); char = source.next()) key.push(char);
  while (char === ' ' || char === '\t') char = source.next();
  const name = `${section}.${key.join('').toLowerCase()}`;
  if (isLineEnd(char)) return { name, value: undefined };
  if (char !== '=') throw new BadConfig();
  return { name, value: readValue(source) };
}

function readValue(source: Source): ByteString {
  const value: string[] = [];
  let spaces = 0;
  let quoted = false;
  for (let char = source.next(); ; char = source.next()) {
    if (isLineEnd(char)) {
      if (quoted) throw new BadConfig();
      return value.join('');
    }
    if (!quoted && isSpace(char)) {
      if (value.length > 0) spaces++;
      continue;
    }
    if (!quoted && (char === ';' || char === '#')) {
      source.skipLine();
      return value.join('');
    }
    if (spaces > 0) value.push(' '.repeat(spaces));
    spaces = 0;
    if (char === '"') quoted = !quoted;
    else value.push(...(char === '\\' ? readEscape(source) : char));
  }
}

function readEscape(source: Source): string {
  const char = source.next();
  if (isLineEnd(char)) return '';
  if (!Object.hasOwn(ESCAPES, char)) throw new BadConfig();
  return ESCAPES[char]!;
}
