import type { TokenRecipe } from '../auth/tokens.js';
import { parseJson } from '../target/json.js';

/** One request and the answer to it, as they went over the wire. */
export interface Exchange {
  /** The rule that asked. */
  readonly rule: string;
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** The request target exactly as sent. */
  readonly path: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody?: Buffer;
  /** How the token was made, if one was sent. */
  readonly recipe?: TokenRecipe;
  /** The token itself: never printed. */
  readonly token?: string;
  /** 0 where there was none. */
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly milliseconds: number;
  /** What was seen where no whole answer came. */
  readonly lost?: string;
  /** Whether a fault made the answer, or touched it: such an answer is no evidence about ordinary behaviour. */
  readonly injected: boolean;
  /** Whether the exchange spoke Git. */
  readonly git: boolean;
}

/** What the emulator names the faults in that touched an answer. */
export const FAULT_FIRED = 'x-emulator-fault-fired';

/** What a verdict rests on. `injected`: on an answer that a fault of the emulator made or touched. */
export type Evidence = 'observed' | 'injected';

export function evidenceIn(exchanges: readonly Exchange[]): Evidence {
  return exchanges.some(({ injected }) => injected) ? 'injected' : 'observed';
}

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function headerOf(exchange: Exchange, name: string): string | undefined {
  const value = exchange.headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** The media type without parameters, in lower case. */
export function mediaTypeOf(exchange: Exchange): string {
  return (headerOf(exchange, 'content-type') ?? '').replace(/;.*/s, '').trim().toLowerCase();
}

/** The body as JSON, or undefined when it is not. */
export function jsonOf(exchange: Exchange): unknown {
  const { body } = exchange;
  if (body.length === 0 || body.length > 64 * 1024 * 1024) return undefined;
  const first = body[0];
  if (first === 0x1f || first === 0x3c) return undefined; // gzip, HTML
  return parseJson(body.toString('utf8'));
}
