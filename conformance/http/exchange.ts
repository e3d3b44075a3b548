import type { TokenRecipe } from '../auth/tokens.js';
import { Unmet } from '../check/expect.js';

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
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly milliseconds: number;
  /** Whether the answer was forced by a fault: such an answer is no evidence about ordinary behaviour. */
  readonly forced: boolean;
  /** Whether the exchange spoke Git. */
  readonly git: boolean;
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
  return (headerOf(exchange, 'content-type') ?? '').split(';', 1)[0].trim().toLowerCase();
}

/** The body as JSON, or undefined when it is not. */
export function jsonOf(exchange: Exchange): unknown {
  const { body } = exchange;
  if (body.length === 0 || body.length > 64 * 1024 * 1024) return undefined;
  const first = body[0];
  if (first === 0x1f || first === 0x3c) return undefined; // gzip, HTML
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** An answer as rules read it: every accessor fails the rule in words when what it reads is not there. */
export class Answer {
  #json: unknown;
  #parsed = false;

  constructor(readonly exchange: Exchange) {}

  get status(): number {
    return this.exchange.status;
  }

  get body(): Buffer {
    return this.exchange.body;
  }

  get text(): string {
    return this.exchange.body.toString('utf8');
  }

  header(name: string): string | undefined {
    return headerOf(this.exchange, name);
  }

  get mediaType(): string {
    return mediaTypeOf(this.exchange);
  }

  /** The body as JSON, undefined when it is not JSON. */
  get json(): unknown {
    if (!this.#parsed) {
      this.#json = jsonOf(this.exchange);
      this.#parsed = true;
    }
    return this.#json;
  }

  /** The `code` of a problem, where there is one. */
  get code(): string | undefined {
    return isRecord(this.json) && typeof this.json.code === 'string' ? this.json.code : undefined;
  }

  /** `404 ref_not_found`, or `404` without a code: how a report names an answer. */
  get outcome(): string {
    return this.code === undefined ? String(this.status) : `${this.status} ${this.code}`;
  }

  /** The member at a path of names, undefined where it ends early. */
  find(...path: readonly (string | number)[]): unknown {
    let value: unknown = this.json;
    for (const name of path) {
      if (Array.isArray(value) && typeof name === 'number') value = value[name];
      else if (isRecord(value)) value = value[name];
      else return undefined;
    }
    return value;
  }

  string(...path: readonly (string | number)[]): string {
    return this.#typed(path, 'a string', (value): value is string => typeof value === 'string');
  }

  integer(...path: readonly (string | number)[]): number {
    return this.#typed(path, 'an integer', (value): value is number => Number.isInteger(value));
  }

  boolean(...path: readonly (string | number)[]): boolean {
    return this.#typed(path, 'a boolean', (value): value is boolean => typeof value === 'boolean');
  }

  array(...path: readonly (string | number)[]): readonly unknown[] {
    return this.#typed(path, 'an array', (value): value is unknown[] => Array.isArray(value));
  }

  record(...path: readonly (string | number)[]): JsonRecord {
    return this.#typed(path, 'an object', isRecord);
  }

  /** An array of objects. */
  records(...path: readonly (string | number)[]): readonly JsonRecord[] {
    const items = this.array(...path);
    const odd = items.find((item) => !isRecord(item));
    if (odd !== undefined) throw new Unmet(`every item of ${nameOf(path)} is an object`, 'an object', odd);
    return items as JsonRecord[];
  }

  #typed<Value>(path: readonly (string | number)[], kind: string, is: (value: unknown) => value is Value): Value {
    const value = this.find(...path);
    if (is(value)) return value;
    throw new Unmet(`${nameOf(path)} is ${kind}`, kind, this.json === undefined ? `a body that is not JSON` : value);
  }
}

function nameOf(path: readonly (string | number)[]): string {
  return path.length === 0 ? 'the body' : path.join('.');
}
