import { startsWithAt } from '../object/bytes.js';
import { type Finding, finding } from './messages.js';

const LF = 0x0a;
const SEPARATOR = Buffer.from('\n\n');
const ZERO = 0x30;
const SPACE = 0x20;
const PLUS = 0x2b;
const MINUS = 0x2d;
/** Largest date, in seconds since 1970, that fits into a signed 64-bit number. */
const LAST_DATE = 2n ** 63n - 1n;
const LARGEST_UNSIGNED = String(2n ** 64n - 1n);

/** Cursor over the header lines of a commit or tag object. `at` is its position in the body. */
export class HeaderCursor {
  at = 0;

  constructor(readonly body: Buffer) {}

  /** Moves the cursor past `word` if `word` is at the current position. Otherwise returns false and does not move. */
  skip(word: string): boolean {
    if (!startsWithAt(this.body, this.at, word)) return false;
    this.at += word.length;
    return true;
  }

  /**
   * Moves the cursor past an object id and its line feed if both are at the current position. Otherwise returns false
   * and does not move.
   */
  skipOidLine(): boolean {
    const { body, at } = this;
    for (let index = at; index < at + 40; index++) {
      if (!isHexDigit(body[index])) return false;
    }
    if (body[at + 40] !== LF) return false;
    this.at = at + 41;
    return true;
  }

  /**
   * Moves the cursor to the next line. Returns the position of the line feed before it; -1 if the current line has no
   * line feed.
   */
  skipLine(): number {
    const end = this.body.indexOf(LF, this.at);
    this.at = end < 0 ? this.body.length : end + 1;
    return end;
  }
}

function isHexDigit(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return isDigit(byte) || (byte >= 0x61 && byte <= 0x66) || (byte >= 0x41 && byte <= 0x46);
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** Returns true for white space as C's `isspace` defines it. */
function isWhiteSpace(byte: number | undefined): boolean {
  return byte === SPACE || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);
}

/**
 * Checks the end of the header of a commit or tag. An empty line must end it. If there is none, the object must end
 * with a line feed. No NUL may precede this end. `nul` is the position of the first NUL in `body`; -1 if none.
 */
export function checkHeaderEnd(body: Buffer, nul: number): Finding | undefined {
  const end = body.indexOf(SEPARATOR);
  if (nul >= 0 && (end < 0 || nul < end)) {
    return finding('nulInHeader', `unterminated header: NUL at offset ${nul}`);
  }
  if (end >= 0 || body[body.length - 1] === LF) return undefined;
  return finding('unterminatedHeader', 'unterminated header');
}

/**
 * Checks the identity in an author, committer or tagger line, `Name <e-mail> seconds +hhmm`, and moves to the next
 * line. The name may be empty, but a space must be before `<`.
 */
export function checkIdentity(cursor: HeaderCursor): Finding | undefined {
  const { body } = cursor;
  const start = cursor.at;
  cursor.skipLine();
  let at = start;
  if (body[at] === 0x3c) return identityFinding('missingNameBeforeEmail', 'missing space before email');
  at = skipTo(body, at);
  if (body[at] === 0x3e) return identityFinding('badName', 'bad name');
  if (body[at] !== 0x3c) return identityFinding('missingEmail', 'missing email');
  if (body[at - 1] !== 0x20) return identityFinding('missingSpaceBeforeEmail', 'missing space before email');
  at = skipTo(body, at + 1);
  if (body[at] !== 0x3e) return identityFinding('badEmail', 'bad email');
  if (body[at + 1] !== 0x20) return identityFinding('missingSpaceBeforeDate', 'missing space before date');
  return checkDate(body, at + 2);
}

/**
 * Checks the date of an identity, `seconds +hhmm`, from position `start` on. Git parses the seconds with `strtoumax`,
 * which accepts white space (even a line feed) and a sign before the digits.
 */
function checkDate(body: Buffer, start: number): Finding | undefined {
  if (body[start] === ZERO && body[start + 1] !== SPACE) return identityFinding('zeroPaddedDate', 'zero-padded date');
  let at = start;
  while (isWhiteSpace(body[at])) at++;
  const isNegative = body[at] === MINUS;
  if (isNegative || body[at] === PLUS) at++;
  const digits = at;
  while (isDigit(body[at])) at++;
  if (dateOverflows(body.toString('latin1', digits, at), isNegative)) {
    return identityFinding('badDateOverflow', 'date causes integer overflow');
  }
  if (at === digits || body[at] !== SPACE) return identityFinding('badDate', 'bad date');
  at++;
  const isZone =
    (body[at] === PLUS || body[at] === MINUS) &&
    isDigit(body[at + 1]) &&
    isDigit(body[at + 2]) &&
    isDigit(body[at + 3]) &&
    isDigit(body[at + 4]) &&
    body[at + 5] === LF;
  return isZone ? undefined : identityFinding('badTimezone', 'bad time zone');
}

/**
 * Returns true if a date in seconds does not fit into a signed 64-bit number. A negative date first becomes a large
 * positive one, as in C's `strtoumax`.
 */
function dateOverflows(digits: string, isNegative: boolean): boolean {
  const significant = digits.replace(/^0+/, '');
  if (significant.length > LARGEST_UNSIGNED.length) return true;
  const value = BigInt(significant);
  if (value > BigInt(LARGEST_UNSIGNED)) return true;
  return (isNegative ? BigInt.asUintN(64, -value) : value) > LAST_DATE;
}

/** Returns the position of the next `<`, `>` or line feed; the end of the body if none follows. */
function skipTo(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length && body[at] !== 0x3c && body[at] !== 0x3e && body[at] !== LF) at++;
  return at;
}

function identityFinding(id: Finding['id'], what: string): Finding {
  return finding(id, `invalid author/committer line - ${what}`);
}
