import type { IncomingMessage } from 'node:http';
import { type Problem, problem } from './problem.js';

/** Parts of a request that determine where its body ends. */
export type MessageHead = Pick<IncomingMessage, 'httpVersion' | 'headers'>;

/**
 * Returns the error response for a request whose end is ambiguous; undefined if the end is clear. After such a request,
 * the connection cannot be used again: the bytes that follow may belong to this request or to the next.
 *
 * - A request whose final transfer coding is not chunked gets a 400, because its length is unknown (RFC 9112, section
 *   6.3).
 * - A sender MUST NOT apply chunked more than once (section 7).
 * - A server SHOULD respond with 501 to an unknown coding, and an HTTP/1.0 request with Transfer-Encoding has faulty
 *   framing (section 6.1).
 *
 * Node's parser already refuses some of these requests, and requests that also have Content-Length.
 */
export function framingIssue({ httpVersion, headers }: MessageHead): Problem | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return problem('bad_request', `HTTP/${httpVersion} is not supported. Use HTTP/1.1 or HTTP/1.0.`);
  }
  const field = headers['transfer-encoding'];
  if (field === undefined) return undefined;
  if (httpVersion === '1.0')
    return problem(
      'bad_request',
      'Transfer-Encoding is not allowed with HTTP/1.0. Send Content-Length, or use HTTP/1.1.',
    );
  if (headers['content-length'] !== undefined) {
    return problem(
      'bad_request',
      'Transfer-Encoding and Content-Length are not allowed together. Send only one of them.',
    );
  }
  const codings = elementsOf(field);
  if (codings.at(-1) !== 'chunked' || codings.indexOf('chunked') < codings.length - 1) {
    return problem('bad_request', 'Transfer-Encoding is invalid; its last coding, and no other, must be chunked.');
  }
  if (codings.length > 1)
    return problem('not_implemented', 'Transfer-Encoding has an unsupported coding. Only chunked is supported.');
  return undefined;
}

/**
 * Throws `expectation_failed` if the `Expect` header contains anything but 100-continue, the only expectation that RFC
 * 9110, section 10.1.1, defines. Ignores the header in HTTP/1.0, which has no expectations.
 */
export function checkExpectation({ httpVersion, headers }: MessageHead): void {
  if (headers.expect === undefined || httpVersion === '1.0') return;
  if (elementsOf(headers.expect).every((expectation) => expectation === '100-continue')) return;
  throw problem(
    'expectation_failed',
    'The value of the Expect header is not supported. Only 100-continue is supported.',
  );
}

/** Returns true if the client may wait for `100 Continue` before it sends the request body. */
export function awaitsContinue({ httpVersion, headers }: MessageHead): boolean {
  return httpVersion !== '1.0' && headers.expect !== undefined && elementsOf(headers.expect).includes('100-continue');
}

/**
 * Returns the elements of a comma-separated list header (RFC 9110, section 5.6.1), in lower case. Omits empty elements.
 */
function elementsOf(field: string): string[] {
  return field
    .toLowerCase()
    .split(',')
    .map((element) => element.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((element) => element !== '');
}
