import type { IncomingMessage } from 'node:http';
import { type Problem, problem } from './problem.js';

/** The part of a request that says how it is to be read. */
export type MessageHead = Pick<IncomingMessage, 'httpVersion' | 'headers'>;

/**
 * What makes the end of a message uncertain, or undefined. After such a message its connection cannot be used: what
 * follows may be the rest of it, or another request.
 *
 * RFC 9112, 6.3: a request whose final transfer coding is not chunked is a 400, as its length cannot be known; 7:
 * a sender MUST NOT apply chunked more than once; 6.1: a server SHOULD answer 501 to a coding that it does not
 * understand, and an HTTP/1.0 message with Transfer-Encoding has to be treated as faulty. Node's parser refuses a
 * part of these, and anything with Content-Length beside.
 */
export function framingMistake({ httpVersion, headers }: MessageHead): Problem | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return problem('bad_request', `HTTP/${httpVersion} is not spoken here; HTTP/1.1 and HTTP/1.0 are.`);
  }
  const field = headers['transfer-encoding'];
  if (field === undefined) return undefined;
  if (httpVersion === '1.0') return problem('bad_request', 'HTTP/1.0 knows no Transfer-Encoding.');
  if (headers['content-length'] !== undefined) {
    return problem('bad_request', 'Transfer-Encoding and Content-Length exclude each other.');
  }
  const codings = elementsOf(field);
  if (codings.at(-1) !== 'chunked' || codings.indexOf('chunked') < codings.length - 1) {
    return problem('bad_request', 'The last transfer coding, and no other, has to be chunked.');
  }
  if (codings.length > 1) return problem('not_implemented', 'No transfer coding but chunked is understood here.');
  return undefined;
}

/**
 * Throws `expectation_failed` for an expectation that cannot be met. RFC 9110, 10.1.1: 100-continue is the only one
 * there is, and HTTP/1.0 has none.
 */
export function checkExpectation({ httpVersion, headers }: MessageHead): void {
  if (headers.expect === undefined || httpVersion === '1.0') return;
  if (elementsOf(headers.expect).every((expectation) => expectation === '100-continue')) return;
  throw problem('expectation_failed', 'No expectation but 100-continue can be met.');
}

/** Whether the client may hold its body back until it is asked for it. */
export function awaitsContinue({ httpVersion, headers }: MessageHead): boolean {
  return httpVersion !== '1.0' && headers.expect !== undefined && elementsOf(headers.expect).includes('100-continue');
}

/** The elements of a list (RFC 9110, 5.6.1), of which empty ones do not count, in lower case. */
function elementsOf(field: string): string[] {
  return field
    .toLowerCase()
    .split(',')
    .map((element) => element.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((element) => element !== '');
}
