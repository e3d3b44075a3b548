import type { TokenRecipe } from '../auth/tokens.js';
import { parseJson } from '../target/json.js';

/** Record of one request and its response, as sent on the wire. */
export interface Exchange {
  /** Id of the rule that sent the request. */
  readonly rule: string;
  readonly method: string;
  /** Origin (scheme, host and port) to which the request was sent. */
  readonly origin: string;
  /** Request target (path and query) exactly as sent. */
  readonly path: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody?: Buffer;
  /** Recipe (description) of the token that the rule sent. Undefined if it sent no token. */
  readonly recipe?: TokenRecipe;
  /** Token that was sent. Reports never print it. */
  readonly token?: string;
  /** HTTP status of the response; 0 if there was no response. */
  readonly status: number;
  /** Response headers. Names are in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly milliseconds: number;
  /** Description of the failure if no complete response arrived. Undefined otherwise. */
  readonly lost?: string;
  /**
   * True if a fault (failure that the emulator injects) made or changed the response. Such a response does not show the
   * target's ordinary behaviour.
   */
  readonly injected: boolean;
  /** True if the request belongs to the Git protocol, false if it belongs to the API. */
  readonly git: boolean;
}

/** Response header in which the emulator names the faults (injected failures) that changed the response. */
export const FAULT_FIRED = 'x-emulator-fault-fired';

/**
 * Kind of responses on which a verdict is based. `injected`: a fault of the emulator made or changed at least one
 * response. `observed`: no response was made or changed by a fault.
 */
export type Evidence = 'observed' | 'injected';

export function evidenceIn(exchanges: readonly Exchange[]): Evidence {
  return exchanges.some(({ injected }) => injected) ? 'injected' : 'observed';
}

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function headerOf(exchange: Pick<Exchange, 'headers'>, name: string): string | undefined {
  const value = exchange.headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Returns the media type of the response, without parameters, in lower case. Empty if there is no `Content-Type`. */
export function mediaTypeOf(exchange: Exchange): string {
  return (headerOf(exchange, 'content-type') ?? '').replace(/;.*/s, '').trim().toLowerCase();
}

/**
 * Returns the response body parsed as JSON. Returns undefined if the body is empty, longer than 64 MiB, or not JSON.
 */
export function jsonOf(exchange: Exchange): unknown {
  const { body } = exchange;
  if (body.length === 0 || body.length > 64 * 1024 * 1024) return undefined;
  const first = body[0];
  if (first === 0x1f || first === 0x3c) return undefined; // gzip, HTML
  return parseJson(body.toString('utf8'));
}
