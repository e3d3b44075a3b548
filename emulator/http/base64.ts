import type { Steps } from '../schedule/steps.js';
import { problem } from './problem.js';

/** Characters decoded in one step, and the units of one. */
const PIECE = 64 * 1024;
const CHARACTER = 1 / 256;
const FOREIGN = /[^A-Za-z0-9+/=]/;

/**
 * Decodes base64 exactly as RFC 4648, section 4, writes it:
 *
 *     The encoding process represents 24-bit groups of input bits as output strings of 4 encoded
 *     characters. [...] Special processing is performed if fewer than 24 bits are available at the end
 *     of the data being encoded.
 *
 * Node's own decoder also takes white space, the URL-safe alphabet, missing padding and unused bits that
 * are not zero; here they are `bad_request`, because a client that sends them has lost data already. The
 * usual one-piece regular expression overflows the stack on a full 4 MiB chunk, hence the plain scan.
 */
export function* base64Steps(data: string, what: string): Steps<Buffer> {
  const fail = (why: string) => problem('bad_request', `${what} is not base64: ${why}.`);
  if (data.length % 4 !== 0) throw fail('its length is not a multiple of four');
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  const first = data.indexOf('=');
  if (first >= 0 && first !== data.length - padding) throw fail('padding stands before the end');
  const decoded = Buffer.allocUnsafe((data.length / 4) * 3 - padding);
  let bytes = 0;
  for (let at = 0; at < data.length; at += PIECE) {
    const piece = data.slice(at, at + PIECE);
    if (FOREIGN.test(piece)) throw fail('it holds a character outside the alphabet');
    bytes += decoded.write(piece, bytes, 'base64');
    yield piece.length * CHARACTER;
  }
  // What is encoded anew has none of them.
  const last = decoded.toString('base64', decoded.length - (decoded.length % 3));
  if (!data.endsWith(last)) throw fail('its unused bits are not zero');
  return decoded;
}
