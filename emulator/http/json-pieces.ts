/**
 * Minimum length of a piece of JSON text, in characters; the last piece may be shorter. Producing a piece takes well
 * under a millisecond.
 */
const PIECE_LENGTH = 64 * 1024;

/**
 * Yields the JSON text of a value in pieces. Each piece is produced when the caller requests it. Together, the pieces
 * equal the output of `JSON.stringify`.
 *
 * The value may contain an iterable instead of an array; its items are produced one by one. It may also contain a
 * Buffer of UTF-8 text instead of a string.
 *
 * The function recurses into nested values. The structure must therefore come from the emulator, because a client could
 * cause a stack overflow.
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
  if (roomAfter(value, ROOM) >= 0) yield JSON.stringify(value);
  else if (typeof value === 'string') yield* partsOfText(value);
  else if (Buffer.isBuffer(value)) yield* partsOfBytes(value);
  else if (Symbol.iterator in (value as object)) yield* partsOfList(value as Iterable<unknown>);
  else yield* partsOfRecord(value as object);
}

/**
 * Approximate maximum length, in characters, of the JSON text that one call of `JSON.stringify` writes. The estimate
 * ignores escape sequences, so a text with many of them is longer.
 */
const ROOM = 16 * 1024;
/** Estimated length of the JSON text of a number, `true`, `false` or `null`, in characters. */
const ATOM = 8;

/**
 * Subtracts the estimated length of the JSON text of a value from `room`. Returns a negative number if the text is
 * longer, or if `JSON.stringify` cannot write the value, which then contains an iterable or a Buffer.
 */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length;
  if (typeof value !== 'object' || value === null) return room - ATOM;
  let left = room;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at++) left = roomAfter(value[at], left - 1);
    return left;
  }
  if (Symbol.iterator in value) return -1;
  for (const name in value) {
    left = roomAfter(value[name as keyof typeof value], left - name.length);
    if (left < 0) return left;
  }
  return left;
}

/** Yields the text of a list. Adjacent short items are written by one call of `JSON.stringify`, which is faster. */
function* partsOfList(items: Iterable<unknown>): Generator<string, void, void> {
  let before = '[';
  let short: unknown[] = [];
  let room = ROOM;
  for (const item of items) {
    room = roomAfter(item, room);
    if (room < 0 && short.length > 0) {
      yield before + JSON.stringify(short).slice(1, -1);
      before = ',';
      short = [];
      room = roomAfter(item, ROOM);
    }
    if (room >= 0) {
      short.push(item);
      continue;
    }
    yield before;
    yield* partsOf(item);
    before = ',';
    room = ROOM;
  }
  if (short.length > 0) yield `${before}${JSON.stringify(short).slice(1)}`;
  else yield before === '[' ? '[]' : ']';
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
    // A piece must not end inside a surrogate pair.
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
 * Returns the offset at which the UTF-8 character with the byte at `at` starts. A character has at most three
 * continuation bytes, `10xxxxxx` (RFC 3629).
 */
function characterStart(bytes: Buffer, at: number): number {
  for (let start = at; start > at - 4; start--) {
    if (start === bytes.length || (bytes[start]! & 0xc0) !== 0x80) return start;
  }
  return at;
}
