/** Characters a piece has at least, unless it is the last one: what takes well under a millisecond to write. */
const PIECE = 64 * 1024;

/**
 * The JSON text of a value, made piece by piece as it is asked for; together they are what `JSON.stringify` makes.
 * Two things may stand in the value that JSON does not have: any iterable for an array, whose items are made one
 * by one, and bytes for a string, which are UTF-8 and never become one string.
 *
 * It goes as deep as the value does, so the value's shape has to be ours and not a client's.
 */
export function* jsonPieces(value: unknown): Generator<string, void, void> {
  let text = '';
  for (const part of partsOf(value)) {
    text += part;
    if (text.length < PIECE) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

function* partsOf(value: unknown): Generator<string, void, void> {
  if (typeof value === 'string' && value.length > PIECE) yield* partsOfText(value);
  else if (Buffer.isBuffer(value)) yield* partsOfBytes(value);
  else if (typeof value !== 'object' || value === null || isFlat(value)) yield JSON.stringify(value);
  else if (Symbol.iterator in value) yield* partsOfList(value as Iterable<unknown>);
  else yield* partsOfRecord(value);
}

/** Whether `JSON.stringify` makes it at once: a record of short values, as the items of long lists mostly are. */
function isFlat(record: object): boolean {
  if (Symbol.iterator in record) return false;
  for (const name in record) {
    const value: unknown = record[name as keyof typeof record];
    if (typeof value === 'string' ? value.length > PIECE : typeof value === 'object' && value !== null) return false;
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
    to = Math.min(from + PIECE, text.length);
    // Two surrogates are one character.
    while (to < text.length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to++;
    yield escaped(text.slice(from, to));
  }
  yield '"';
}

function* partsOfBytes(bytes: Buffer): Generator<string, void, void> {
  yield '"';
  for (let from = 0, to = 0; from < bytes.length; from = to) {
    to = characterStart(bytes, Math.min(from + PIECE, bytes.length));
    yield escaped(bytes.toString('utf8', from, to));
  }
  yield '"';
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Where the character starts that byte `at` belongs to: it has at most three more bytes (RFC 3629), `10xxxxxx` each. */
function characterStart(bytes: Buffer, at: number): number {
  for (let start = at; start > at - 4; start--) {
    if (start === bytes.length || (bytes[start]! & 0xc0) !== 0x80) return start;
  }
  return at;
}
