import type { ApiResponse } from '../../check/api-response.js';

/**
 * Returns headers that make a request conditional on the `ETag` of an earlier response, or limit it to one byte (RFC
 * 9110, sections 13.1.2 and 14.2). A server that evaluates them before it checks the token answers 304 or 206.
 */
export function conditionalHeaders(response: ApiResponse): readonly Readonly<Record<string, string>>[] {
  return [{ 'if-none-match': response.header('etag') ?? '*' }, { range: 'bytes=0-0' }];
}
