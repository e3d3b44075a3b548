import { type ByteString, bytesOf, sliceBytes } from './bytes.js';
import { decodeText } from './text-encoding.js';

/**
 * Name, e-mail address and time of the author or committer of a commit, or of the tagger of a tag. `seconds` counts
 * from 1970 in UTC. `offset` is the time zone, such as `+0100`.
 */
export interface Identity {
  readonly name: string;
  readonly email: string;
  readonly seconds: number;
  readonly offset: string;
}

/** Last time that RFC 3339 can represent, in seconds since 1970: 9999-12-31T23:59:59Z. */
const LAST_SECOND = 253_402_300_799;

/**
 * Parses `Name <e-mail> seconds offset`, the value of an `author`, `committer` or `tagger` line.
 *
 * Malformed lines are accepted, as in `git log`. The name ends at the first `<`, the e-mail address at the next `>`,
 * and the date follows the last `>`. A missing or malformed part becomes empty text or the time 0 (start of 1970).
 */
export function parseIdentity(line: ByteString): Identity {
  const open = line.indexOf('<');
  const close = open < 0 ? -1 : line.indexOf('>', open);
  if (close < 0) return { name: '', email: '', seconds: 0, offset: '+0000' };
  return {
    name: decodeText(trimmedEnd(sliceBytes(line, 0, open))),
    email: decodeText(sliceBytes(line, open + 1, close)),
    ...parseDate(line.slice(line.lastIndexOf('>') + 1)),
  };
}

/**
 * Removes ASCII white space from the end of a name. Other bytes are kept, as in Git, because they may be the end of a
 * multi-byte character.
 */
function trimmedEnd(value: ByteString): ByteString {
  let end = value.length;
  while (end > 0 && ' \t\n\r'.includes(value.charAt(end - 1))) end--;
  return sliceBytes(value, 0, end);
}

function parseDate(text: string): { seconds: number; offset: string } {
  const match = /^[ \t\n\r]*(\d+)[ \t\n\r]*([+-]\d+)/.exec(text);
  const seconds = Number(match?.[1]);
  if (!match || !Number.isSafeInteger(seconds)) return { seconds: 0, offset: '+0000' };
  return { seconds, offset: match[2]! };
}

/**
 * Returns `Name <e-mail> seconds offset` in UTF-8, the value of an `author`, `committer` or `tagger` line. Removes `<`,
 * `>`, line feeds and NULs from the name and the e-mail address, as Git does, because they would end the field early.
 */
export function writeIdentity(identity: Identity): ByteString {
  const seconds = Number.isSafeInteger(identity.seconds) ? Math.max(0, identity.seconds) : 0;
  const offset = /^[+-]\d{4}$/.test(identity.offset) ? identity.offset : '+0000';
  return bytesOf(`${writtenPart(identity.name)} <${writtenPart(identity.email)}> ${seconds} ${offset}`);
}

function writtenPart(text: string): string {
  return text.replace(/[<>\n\0]/g, '');
}

/**
 * Removes the characters from a name or e-mail address that `git commit` removes too. At both ends, these are white
 * space, control characters and punctuation. Everywhere, these are `<`, `>`, line feeds and NULs.
 */
export function cleanIdentityPart(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isCrud(text.charCodeAt(start))) start++;
  while (end > start && isCrud(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end).replace(/[<>\n\0]/g, '');
}

function isCrud(code: number): boolean {
  return code <= 0x20 || '.,:;<>"\\\''.includes(String.fromCharCode(code));
}

/**
 * Returns a time in the format of RFC 3339 with the author's time zone, such as `2026-01-02T03:04:05+01:00`. UTC is
 * written as `Z`.
 *
 * Two values have a fallback. UTC is used if RFC 3339 cannot represent the time zone, or if the local year would have
 * more than four digits. The time 0 (start of 1970) is used if RFC 3339 cannot represent the time.
 */
export function formatDate({ seconds, offset }: Pick<Identity, 'seconds' | 'offset'>): string {
  if (!(seconds >= 0 && seconds <= LAST_SECOND)) return formatDate({ seconds: 0, offset: '+0000' });
  const minutes = offsetMinutes(offset);
  const local = seconds + minutes * 60;
  if (local > LAST_SECOND) return formatDate({ seconds, offset: '+0000' });
  const date = new Date(local * 1000).toISOString().slice(0, 19);
  if (minutes === 0) return `${date}Z`;
  const size = Math.abs(minutes);
  const zone = `${String(Math.floor(size / 60)).padStart(2, '0')}:${String(size % 60).padStart(2, '0')}`;
  return `${date}${minutes < 0 ? '-' : '+'}${zone}`;
}

/** Returns the minutes east of UTC for a time zone such as `+0130`. Returns 0 if the hours or minutes are not valid. */
function offsetMinutes(offset: string): number {
  const match = /^([+-])(\d+)$/.exec(offset);
  if (!match) return 0;
  const digits = Number(match[2]);
  if (digits > 2359 || digits % 100 > 59 || digits === 0) return 0;
  const minutes = Math.floor(digits / 100) * 60 + (digits % 100);
  return match[1] === '-' ? -minutes : minutes;
}
