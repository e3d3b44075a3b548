/**
 * Minimum length of a piece in characters, except for the last piece. Producing a piece takes well under a millisecond.
 */
const PIECE_LENGTH = 64 * 1024;

/**
 * Yields the JSON text of a value in pieces, each produced when it is requested. Together they are the text that
 * `JSON.stringify` produces. The value may contain two things that JSON does not have: an iterable in place of an
 * array, whose items are produced one by one, and a Buffer of UTF-8 text in place of a string.
 *
 * Recurses as deep as the value is nested, so only the emulator may choose the value's structure, and never a client.
 */
export function* jsonPieces(value: unknown): Generator<string, void, void> {
  let text = '';
  for (const part of partsOf(value)) {
    text += part;
    if (text.length < PIECE_LENGTH) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

function* partsOf(value: unknown): Generator<string, void, void> {
  if (typeof value === 'string' && value.length > PIECE_LENGTH) yield* partsOfText(value);
  else if (Buffer.isBuffer(value)) yield* partsOfBytes(value);
  else if (typeof value !== 'object' || value === null || isFlat(value)) yield JSON.stringify(value);
  else if (Symbol.iterator in value) yield* partsOfList(value as Iterable<unknown>);
  else yield* partsOfRecord(value);
}

/**
 * Returns true if `JSON.stringify` can write the record in one call, because all its values are short. Most items of
 * long lists are such records.
 */
function isFlat(record: object): boolean {
  if (Symbol.iterator in record) return false;
  for (const name in record) {
    const value: unknown = record[name as keyof typeof record];
    if (typeof value === 'string' ? value.length > PIECE_LENGTH : typeof value === 'object' && value !== null)
      return false;
  }
  return true;
}

function* partsOfList(items: Iterable<unknown>): Generator<string, void, void> {
  let before = '[';
  for (const item of items) {
    yield before;
    yield* partsOf(item);
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

function* partsOfRecord(record: object): Generator<string, void, void> {
  let before = '{';
  for (const [name, value] of Object.entries(record)) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* partsOf(value);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

function* partsOfText(text: string): Generator<string, void, void> {
  yield '"';
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = Math.min(from + PIECE_LENGTH, text.length);
    // Do not split a surrogate pair.
    while (to < text.length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to++;
    yield escaped(text.slice(from, to));
  }
  yield '"';
}

function* partsOfBytes(bytes: Buffer): Generator<string, void, void> {
  yield '"';
  for (let from = 0, to = 0; from < bytes.length; from = to) {
    to = characterStart(bytes, Math.min(from + PIECE_LENGTH, bytes.length));
    yield escaped(bytes.toString('utf8', from, to));
  }
  yield '"';
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * Returns the offset at which the character starts that contains byte `at`. A UTF-8 character has at most three
 * continuation bytes, `10xxxxxx` (RFC 3629).
 */
function characterStart(bytes: Buffer, at: number): number {
  for (let start = at; start > at - 4; start--) {
    if (start === bytes.length || (bytes[start]! & 0xc0) !== 0x80) return start;
  }
  return at;
}
