/**
 * The client broke the protocol, or asked for what cannot be had. Its message reaches the git user:
 * as an `ERR` packet in a fetch, as the `unpack` line of a push.
 */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}
