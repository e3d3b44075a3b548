import { Pool } from 'undici';
import type { TokenRecipe } from '../auth/tokens.js';
import { type Exchange, FAULT_FIRED } from './exchange.js';
import type { Limiter } from './limiter.js';

/** What goes on the wire. */
export interface WireRequest {
  readonly rule: string;
  readonly method: string;
  readonly origin: string;
  /** The request target, sent exactly as it is: nothing here is normalised or encoded again. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly recipe?: TokenRecipe;
  readonly token?: string;
  readonly git?: boolean;
  /** Whether a 429 is what the rule wants to see. */
  readonly wantsThrottling?: boolean;
}

export interface ClientOptions {
  readonly limiter: Limiter;
  /** Milliseconds until the headers have to be there, and between two parts of the body. */
  readonly timeout: number;
  readonly connections: number;
  readonly onExchange: (exchange: Exchange) => void;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** The target keeps answering 429, or asks to wait too long. */
export class Throttled extends Error {
  override readonly name = 'Throttled';
}

/** The longest wait that a throttled request is given. */
const LONGEST_WAIT_SECONDS = 30;

/** HTTP/1.1 by undici's dispatcher: no redirects, no decoding, no retries, no normalised targets. */
export class Client {
  readonly #pools = new Map<string, Pool>();

  constructor(readonly options: ClientOptions) {}

  /** Sends one request. Throws `Throttled` when the target keeps throttling, and what the transport throws. */
  async send(request: WireRequest): Promise<Exchange> {
    const first = await this.#sendOnce(request);
    if (first.status !== 429 || request.wantsThrottling === true) return first;
    const wait = secondsOf(first.headers['retry-after']);
    if (wait === undefined) return first; // the other meaning of 429: too much to answer, waiting never helps
    if (wait > LONGEST_WAIT_SECONDS) throw new Throttled(`throttled: the target asks to wait ${wait} s`);
    await this.options.sleep(wait * 1000);
    const second = await this.#sendOnce(request);
    if (second.status === 429) throw new Throttled('throttled: 429 again after waiting as long as Retry-After asked');
    return second;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  async #sendOnce(request: WireRequest): Promise<Exchange> {
    await this.options.limiter.take();
    const started = performance.now();
    const response = await this.#pool(request.origin).request({
      method: request.method as 'GET',
      path: request.path,
      headers: request.headers,
      body: request.body ?? null,
      signal: this.options.signal,
    });
    const body = Buffer.from(await response.body.arrayBuffer());
    const exchange: Exchange = {
      rule: request.rule,
      method: request.method,
      origin: request.origin,
      path: request.path,
      requestHeaders: request.headers,
      status: response.statusCode,
      headers: response.headers,
      body,
      milliseconds: performance.now() - started,
      injected: response.headers[FAULT_FIRED] !== undefined,
      git: request.git ?? false,
      ...(request.body === undefined ? {} : { requestBody: request.body }),
      ...(request.recipe === undefined ? {} : { recipe: request.recipe }),
      ...(request.token === undefined ? {} : { token: request.token }),
    };
    this.options.onExchange(exchange);
    return exchange;
  }

  #pool(origin: string): Pool {
    let pool = this.#pools.get(origin);
    if (pool === undefined) {
      pool = new Pool(origin, {
        connections: this.options.connections,
        headersTimeout: this.options.timeout,
        bodyTimeout: this.options.timeout,
        connect: { timeout: Math.min(this.options.timeout, 10_000) },
        maxHeaderSize: 64 * 1024,
      });
      this.#pools.set(origin, pool);
    }
    return pool;
  }
}

/** `Retry-After` as seconds (RFC 9110, 10.2.3: seconds or an HTTP date); undefined when it is neither. */
export function secondsOf(value: string | string[] | undefined, now = Date.now()): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}
