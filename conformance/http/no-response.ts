import type { Exchange } from './exchange.js';

/**
 * Reason why no complete response arrived.
 * - `unreachable`: no connection.
 * - `dropped`: the connection ended before the response began.
 * - `truncated`: the connection ended within the response.
 * - `late`: timeout.
 * - `garbled`: the received bytes are not HTTP.
 */
export type LossKind = 'unreachable' | 'dropped' | 'truncated' | 'late' | 'garbled';

/** Description of a failed request: no complete response arrived. */
export interface Loss {
  readonly kind: LossKind;
  /** Text that describes the failure, for reports. */
  readonly seen: string;
}

/** Thrown if a request received no complete response. The cause is the target or the network, not the suite. */
export class NoResponse extends Error {
  override readonly name = 'NoResponse';

  constructor(
    readonly loss: Loss,
    /** Record of the request, with the part of the response that arrived. */
    readonly exchange: Exchange,
  ) {
    super(loss.seen);
  }
}

/**
 * Thrown if the whole run cannot continue: the target is unreachable or refuses requests, or the suite itself failed.
 */
export class RunEnded extends Error {
  override readonly name = 'RunEnded';

  constructor(
    readonly by: 'target' | 'suite',
    reason: string,
  ) {
    super(reason);
  }
}

/** Text for a request whose response did not begin in time. */
export const TIMED_OUT = 'no response before the timeout';

const UNREACHABLE =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOST|ENET|UND_ERR_CONNECT_TIMEOUT|ERR_TLS|ERR_SSL|EPROTO|CERT_|DEPTH_|SELF_|UNABLE_)/;
const LATE = /^(UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT|ETIMEDOUT)$/;
const GARBLED = /^(HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_)/;
const DROPPED = /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/;

/**
 * Converts an error of the HTTP client into a description of the lost response. Returns undefined if the suite itself
 * caused the error. `begun`: true if the response status had already arrived.
 */
export function lossOf(error: unknown, begun = false): Loss | undefined {
  const { name, code: given, message } = (error ?? {}) as Record<string, unknown>;
  // Recognize two errors by their class, because their `code` does not identify them. Errors of undici's parser differ
  // only in their message; an aborted `AbortSignal.timeout()` has a numeric code.
  const code = name === 'HTTPParserError' ? 'HPE_INVALID' : name === 'TimeoutError' ? 'ETIMEDOUT' : given;
  if (typeof code !== 'string') return undefined;
  // Trim the message, because OpenSSL ends its messages with a line break.
  const words = typeof message === 'string' && message !== '' ? `${code}: ${message.trim()}` : code;
  if (UNREACHABLE.test(code)) return { kind: 'unreachable', seen: `no connection (${words})` };
  if (LATE.test(code)) return { kind: 'late', seen: begun ? 'timed out while receiving the response' : TIMED_OUT };
  if (GARBLED.test(code)) return { kind: 'garbled', seen: `the response is not valid HTTP (${words})` };
  if (!DROPPED.test(code)) return undefined;
  if (begun) return { kind: 'truncated', seen: `the response was truncated (${words})` };
  return { kind: 'dropped', seen: `the connection was closed before a response (${words})` };
}
