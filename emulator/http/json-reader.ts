import type { Steps } from '../schedule/steps.js';
import { problem } from './problem.js';

/**
 * Maximum nesting depth of a JSON text. It is small enough that recursive functions can process the parsed value
 * without a stack overflow.
 */
export const MAX_DEPTH = 64;
/**
 * Maximum number of members of one JSON object. Some handlers process all members without yielding to other requests.
 */
export const MAX_MEMBERS = 10_000;
/**
 * Maximum number of values in the JSON body of a request, including members and items. Without a limit, a body of 1 MiB
 * can contain 500,000 values, whose validation takes 0.2 s and 100 MB.
 */
export const MAX_VALUES = 50_000;
/**
 * Maximum length, in bytes, of a text that one call of `JSON.parse` parses without yielding. Such a text cannot exceed
 * `MAX_MEMBERS`, because a member takes at least 5 bytes.
 */
const MIN_YIELDING_BYTES = 32 * 1024;
/** Number of UTF-8 bytes to decode before yielding to other requests. */
const DECODED_PER_YIELD = 512 * 1024;
/** Number of characters to scan for nesting before yielding to other requests. */
const SCANNED_PER_YIELD = 64 * 1024;
/** Number of characters to parse before yielding to other requests. */
const PARSED_PER_YIELD = 8 * 1024;
/** Cost of scanning one character for nesting, in units of CPU work (`schedule/cost.ts`). */
const SCAN_UNITS = 1 / 512;
/** Cost of parsing one character, in units of CPU work (`schedule/cost.ts`). */
const PARSE_UNITS = 1 / 32;

export type Members = Readonly<Record<string, unknown>>;

/** Returns true for a JSON object. Returns false for an array and all other values. */
export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** First rule of `readJson` that a JSON text violates. */
export type JsonIssue = 'encoding' | 'depth' | 'values' | 'syntax' | 'members' | 'repeated';

export class JsonError extends Error {
  override readonly name = 'JsonError';

  constructor(readonly issue: JsonIssue) {
    super(issue);
  }
}

const MESSAGES: Readonly<Record<JsonIssue, (what: string) => string>> = {
  encoding: (what) => `${what} is not valid UTF-8.`,
  depth: (what) => `${what} is nested deeper than ${MAX_DEPTH} levels.`,
  values: (what) => `${what} has more than ${MAX_VALUES} values.`,
  syntax: (what) => `${what} is not valid JSON.`,
  members: (what) => `${what} has an object with more than ${MAX_MEMBERS} members.`,
  repeated: (what) => `${what} has an object with the same member twice.`,
};

export interface JsonOptions {
  /** True if a repeated member name in an object is an error. */
  readonly unique?: boolean;
  /** Maximum number of values in the text, including members and items; unlimited if absent. */
  readonly maxValues?: number;
}

/**
 * Like `readJson`, for a request body or one of its lines. Throws the API error `bad_request`, whose message begins
 * with `what`, the name of the text (such as "The body").
 */
export function* jsonSteps(body: Uint8Array, what: string, options?: JsonOptions): Steps<unknown> {
  try {
    return yield* readJson(body, options);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw problem('bad_request', MESSAGES[error.issue](what));
  }
}

/**
 * Parses JSON (RFC 8259) like `JSON.parse`, but yields between slices of work, so that a long text does not block other
 * requests. Throws `JsonError` if the text is invalid or exceeds a limit.
 *
 * - The text must be valid UTF-8 without a byte order mark.
 * - It may be at most `MAX_DEPTH` levels deep, with at most `MAX_MEMBERS` members per object.
 * - "The names within an object SHOULD be unique" (section 4). If `unique` is true, repeated names are refused. By
 *   default, the last member with a name wins.
 */
export function* readJson(
  body: Uint8Array,
  { unique = false, maxValues = Number.POSITIVE_INFINITY }: JsonOptions = {},
): Steps<unknown> {
  const text = yield* decode(body);
  const { depth, values } = yield* measure(text);
  if (depth > MAX_DEPTH) throw new JsonError('depth');
  if (values > maxValues) throw new JsonError('values');
  try {
    if (body.length < MIN_YIELDING_BYTES && !unique) return JSON.parse(text);
    return yield* new JsonReader(text, unique).read();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new JsonError('syntax');
  }
}

function* decode(body: Uint8Array): Steps<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const pieces: string[] = [];
  try {
    for (let at = 0; at + DECODED_PER_YIELD < body.length; at += DECODED_PER_YIELD) {
      pieces.push(decoder.decode(body.subarray(at, at + DECODED_PER_YIELD), { stream: true }));
      yield DECODED_PER_YIELD * SCAN_UNITS;
    }
    pieces.push(decoder.decode(body.subarray(pieces.length * DECODED_PER_YIELD)));
  } catch {
    throw new JsonError('encoding');
  }
  return pieces.length === 1 ? pieces[0]! : pieces.join('');
}

/**
 * Returns the nesting depth and the number of values of a JSON text. It only scans the characters. A text that exceeds
 * a limit is thus refused before memory for its values is allocated.
 */
function* measure(text: string): Steps<{ depth: number; values: number }> {
  let depth = 0;
  let deepest = 0;
  // Starts at 1 for the root. Each container adds 1 for its first value, and each comma adds 1 for the next value. An
  // empty container also counts as having one value.
  let values = 1;
  let isInString = false;
  for (let at = 0, yieldedAt = 0; at < text.length; at++) {
    if (at - yieldedAt >= SCANNED_PER_YIELD) {
      yield (at - yieldedAt) * SCAN_UNITS;
      yieldedAt = at;
    }
    const code = text.charCodeAt(at);
    if (isInString) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === COMMA) values++;
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      deepest = Math.max(deepest, ++depth);
      values++;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth--;
  }
  return { depth: deepest, values };
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const LETTER_U = 0x75;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERALS = { 116: ['true', true], 102: ['false', false], 110: ['null', null] } as const;

/** Array or object that the parser is still reading: its closing bracket has not been reached. */
type OpenContainer = { readonly list: unknown[]; readonly record?: undefined } | OpenObject;

interface OpenObject {
  readonly list?: undefined;
  readonly record: Record<string, unknown>;
  name: string;
  members: number;
}

/**
 * JSON parser with its own stack of open arrays and objects. A recursive parser would keep them on the call stack and
 * could not yield inside them. Throws `SyntaxError` and `JsonError`.
 */
class JsonReader {
  #position = 0;
  #yieldedAt = 0;
  readonly #open: OpenContainer[] = [];

  constructor(
    private readonly text: string,
    private readonly unique: boolean,
  ) {}

  *read(): Steps<unknown> {
    for (;;) {
      if (this.#position - this.#yieldedAt >= PARSED_PER_YIELD) yield this.#takeCost();
      yield* this.#skipSpace();
      const code = this.text.charCodeAt(this.#position);
      let value: unknown;
      if (code === OPEN_OBJECT) {
        this.#position++;
        yield* this.#skipSpace();
        if (this.text.charCodeAt(this.#position) !== CLOSE_OBJECT) {
          this.#open.push({ record: {}, name: yield* this.#readName(), members: 0 });
          continue;
        }
        this.#position++;
        value = {};
      } else if (code === OPEN_ARRAY) {
        this.#position++;
        yield* this.#skipSpace();
        if (this.text.charCodeAt(this.#position) !== CLOSE_ARRAY) {
          this.#open.push({ list: [] });
          continue;
        }
        this.#position++;
        value = [];
      } else value = code === QUOTE ? yield* this.#readString() : this.#readAtom(code);
      if (yield* this.#addValue(value)) return this.#root;
    }
  }

  #root: unknown;

  /**
   * Adds a complete value to the innermost open container. Then closes all containers whose closing brackets follow.
   * Returns true at the end of the text.
   */
  *#addValue(complete: unknown): Steps<boolean> {
    for (let value = complete; ; ) {
      yield* this.#skipSpace();
      const open = this.#open.at(-1);
      if (open === undefined) {
        if (this.#position < this.text.length) this.#fail();
        this.#root = value;
        return true;
      }
      if (open.list !== undefined) open.list.push(value);
      else this.#addMember(open, value);
      const code = this.text.charCodeAt(this.#position++);
      if (code === COMMA) {
        if (open.list !== undefined) return false;
        yield* this.#skipSpace();
        open.name = yield* this.#readName();
        return false;
      }
      if (code !== (open.list === undefined ? CLOSE_OBJECT : CLOSE_ARRAY)) this.#fail();
      this.#open.pop();
      value = open.list ?? open.record;
    }
  }

  #addMember(open: OpenObject, value: unknown): void {
    if (++open.members > MAX_MEMBERS) throw new JsonError('members');
    if (this.unique && Object.hasOwn(open.record, open.name)) throw new JsonError('repeated');
    // An assignment to `__proto__` would change the prototype, so the member is defined explicitly. `JSON.parse` also
    // makes `__proto__` an ordinary member.
    if (open.name === '__proto__') {
      Object.defineProperty(open.record, open.name, { value, writable: true, enumerable: true, configurable: true });
    } else open.record[open.name] = value;
  }

  *#readName(): Steps<string> {
    if (this.text.charCodeAt(this.#position) !== QUOTE) this.#fail();
    const name = yield* this.#readString();
    yield* this.#skipSpace();
    if (this.text.charCodeAt(this.#position++) !== COLON) this.#fail();
    return name;
  }

  /**
   * Reads a string from its opening to its closing quote. Long strings are read in several pieces. `JSON.parse` decodes
   * a piece with escape sequences.
   */
  *#readString(): Steps<string> {
    const { text } = this;
    let from = ++this.#position;
    let hasEscape = false;
    let read = '';
    for (let at = from; ; at++) {
      const code = text.charCodeAt(at);
      if (at - from >= PARSED_PER_YIELD || code === QUOTE) {
        const piece = text.slice(from, at);
        read += hasEscape ? JSON.parse(`"${piece}"`) : piece;
        hasEscape = false;
        from = at;
        this.#position = at;
        if (code === QUOTE) break;
        yield this.#takeCost();
      }
      if (code === BACKSLASH) {
        hasEscape = true;
        at += text.charCodeAt(at + 1) === LETTER_U ? 5 : 1;
      } else if (!(code >= 0x20)) this.#fail();
    }
    this.#position++;
    return read;
  }

  #readAtom(code: number): unknown {
    const { text } = this;
    const literal = LITERALS[code as keyof typeof LITERALS];
    if (literal !== undefined) {
      const [word, value] = literal;
      if (!text.startsWith(word, this.#position)) this.#fail();
      this.#position += word.length;
      return value;
    }
    NUMBER.lastIndex = this.#position;
    const digits = NUMBER.exec(text)?.[0];
    if (digits === undefined) this.#fail();
    this.#position += digits.length;
    return Number(digits);
  }

  *#skipSpace(): Steps<void> {
    while (isSpace(this.text.charCodeAt(this.#position))) {
      this.#position++;
      if (this.#position - this.#yieldedAt >= PARSED_PER_YIELD) yield this.#takeCost();
    }
  }

  /** Returns the cost of the characters parsed since the last yield, in units of CPU work. */
  #takeCost(): number {
    const characters = this.#position - this.#yieldedAt;
    this.#yieldedAt = this.#position;
    return characters * PARSE_UNITS;
  }

  #fail(): never {
    throw new SyntaxError('not valid JSON');
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
