const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** JSON that a lenient parser would read and two parsers might read differently. The message is one sentence part. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
}

/**
 * Parses JSON (RFC 8259) and refuses what leaves room for doubt: malformed UTF-8, a byte order mark,
 * a member named twice in one object (section 4: "the names within an object SHOULD be unique"), and
 * nesting deeper than `maxDepth`. Throws `JsonError`.
 */
export function parseStrictJson(input: Uint8Array | string, maxDepth = 64): unknown {
  const text = typeof input === 'string' ? input : decodeUtf8(input);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new JsonError('it is not JSON');
  }
  checkMembers(text, maxDepth);
  return value;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new JsonError('it is not UTF-8');
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Walks text that is known to be JSON, once, with the open containers on a stack of its own. */
function checkMembers(text: string, maxDepth: number): void {
  /** For each open container the names seen so far, or undefined for an array. */
  const open: (Set<string> | undefined)[] = [];
  let expectsName = false;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at);
        if (expectsName) {
          addName(open.at(-1)!, text.slice(at, end));
          expectsName = false;
        }
        at = end - 1;
        break;
      }
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        expectsName = text.charCodeAt(at) === OPEN_OBJECT;
        open.push(expectsName ? new Set() : undefined);
        if (open.length > maxDepth) throw new JsonError(`it is nested deeper than ${maxDepth}`);
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        open.pop();
        expectsName = false;
        break;
      case COMMA:
        expectsName = open.at(-1) !== undefined;
        break;
    }
  }
}

/** The position after the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; text.charCodeAt(at) !== QUOTE; at++) {
    if (text.charCodeAt(at) === BACKSLASH) at++;
  }
  return at + 1;
}

function addName(names: Set<string>, literal: string): void {
  // Two spellings of one name, such as "alg" and "\u0061lg", are the same member.
  const name: string = literal.includes('\\') ? JSON.parse(literal) : literal.slice(1, -1);
  if (names.has(name)) throw new JsonError('a member is named twice');
  names.add(name);
}
