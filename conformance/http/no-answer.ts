import type { Exchange } from './exchange.js';

/**
 * unreachable: no connection. dropped: it ended before the answer began. truncated: it ended within the answer. late:
 * nothing came in time. garbled: what came is no HTTP.
 */
export type LossKind = 'unreachable' | 'dropped' | 'truncated' | 'late' | 'garbled';

/** How an exchange ended that has no whole answer. */
export interface Loss {
  readonly kind: LossKind;
  /** What was seen instead of an answer. */
  readonly seen: string;
}

/** A request that got no whole answer: what a target did, and no fault of the suite. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';

  constructor(
    readonly loss: Loss,
    /** Of the answer it holds what there was. */
    readonly exchange: Exchange,
  ) {
    super(loss.seen);
  }
}

/** The run cannot go on: the target is gone, or does not want to be asked, or the suite itself broke. */
export class RunEnded extends Error {
  override readonly name = 'RunEnded';

  constructor(
    readonly by: 'target' | 'suite',
    reason: string,
  ) {
    super(reason);
  }
}

const UNREACHABLE =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOST|ENET|UND_ERR_CONNECT_TIMEOUT|ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_|UNABLE_)/;
const LATE = /^(UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT|ETIMEDOUT)$/;
const GARBLED = /^(HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_)/;
const DROPPED = /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/;

/** What an error of the transport says of the target; undefined where it is the suite's own. `begun`: the status came. */
export function lossOf(error: unknown, begun = false): Loss | undefined {
  const { name, code: given, message } = (error ?? {}) as Record<string, unknown>;
  // Errors of undici's parser differ only in their message; an aborted AbortSignal.timeout() has a number as its code.
  const code = name === 'HTTPParserError' ? 'HPE_INVALID' : name === 'TimeoutError' ? 'ETIMEDOUT' : given;
  if (typeof code !== 'string') return undefined;
  const words = typeof message === 'string' && message !== '' ? `${code}: ${message}` : code;
  if (UNREACHABLE.test(code)) return { kind: 'unreachable', seen: `no connection (${words})` };
  if (LATE.test(code)) return { kind: 'late', seen: begun ? 'the answer stopped coming' : 'no answer in time' };
  if (GARBLED.test(code)) return { kind: 'garbled', seen: `an answer that is no HTTP (${words})` };
  if (!DROPPED.test(code)) return undefined;
  if (begun) return { kind: 'truncated', seen: `an answer that was cut off (${words})` };
  return { kind: 'dropped', seen: `the connection closed without an answer (${words})` };
}
