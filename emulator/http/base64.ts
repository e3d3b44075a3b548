import type { Steps } from '../schedule/steps.js';
import { problem } from './problem.js';

/** Number of characters to decode before yielding to other requests. */
const PIECE_LENGTH = 64 * 1024;
/** Cost of decoding one character, in units of CPU work (`schedule/cost.ts`). */
const CHARACTER_UNITS = 1 / 256;
const OUTSIDE_ALPHABET = /[^A-Za-z0-9+/=]/;

/**
 * Decodes base64 strictly as RFC 4648, section 4, defines it. Yields the cost of the work after each piece.
 *
 *     The encoding process represents 24-bit groups of input bits as output strings of 4 encoded
 *     characters. [...] Special processing is performed if fewer than 24 bits are available at the end
 *     of the data being encoded.
 *
 * Throws `bad_request` for white space, the URL-safe alphabet, missing padding and unused bits that are not zero.
 * Node's decoder accepts these, but a client that sends them has already lost data.
 *
 * The text is checked piece by piece, because one regular expression for a full 4 MiB chunk overflows the stack.
 */
export function* base64Steps(data: string, what: string): Steps<Buffer> {
  const fail = (why: string) => problem('bad_request', `${what} is not valid base64: ${why}.`);
  if (data.length % 4 !== 0) throw fail(`its length (${data.length}) is not a multiple of 4`);
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  const first = data.indexOf('=');
  if (first >= 0 && first !== data.length - padding) throw fail('padding (=) is allowed only at the end');
  const decoded = Buffer.allocUnsafe((data.length / 4) * 3 - padding);
  let bytes = 0;
  for (let at = 0; at < data.length; at += PIECE_LENGTH) {
    const piece = data.slice(at, at + PIECE_LENGTH);
    if (OUTSIDE_ALPHABET.test(piece)) throw fail('it has a character outside of the alphabet A-Z a-z 0-9 + /');
    bytes += decoded.write(piece, bytes, 'base64');
    yield piece.length * CHARACTER_UNITS;
  }
  // Encodes the last group again and compares it with the input, to check that its unused bits are zero.
  const last = decoded.toString('base64', decoded.length - (decoded.length % 3));
  if (!data.endsWith(last)) throw fail('the unused bits of its last character are not zero');
  return decoded;
}
