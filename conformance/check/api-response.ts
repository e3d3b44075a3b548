import { type Exchange, headerOf, isRecord, type JsonRecord, jsonOf, mediaTypeOf } from '../http/exchange.js';
import { AssertionFailure } from './outcomes.js';

/**
 * Response of the target, with accessors for rules. The accessors `string` to `records` read the JSON member at a path.
 * They fail the rule with a readable message if the member is absent or has another type.
 */
export class ApiResponse {
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

  /** Body parsed as JSON on first use. Undefined if the body is not JSON. */
  get json(): unknown {
    if (!this.#parsed) {
      this.#json = jsonOf(this.exchange);
      this.#parsed = true;
    }
    return this.#json;
  }

  /** Error code from the `code` member of the JSON body. Undefined if absent. */
  get code(): string | undefined {
    return isRecord(this.json) && typeof this.json.code === 'string' ? this.json.code : undefined;
  }

  /**
   * Short description of the response for reports: status and error code, such as `404 ref_not_found`. Only the status
   * if the body has no code. A redirect shows status and `Location` without its query, such as `302 to /login`.
   */
  get outcome(): string {
    const location = this.status > 299 && this.status < 400 ? this.header('location') : undefined;
    if (location !== undefined) return `${this.status} to ${location.replace(/[?#].*/s, '')}`;
    return this.code === undefined ? String(this.status) : `${this.status} ${this.code}`;
  }

  /** Returns the JSON value at a path of member names and array indexes; undefined if absent. */
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

  /**
   * Returns the array at a path of member names and array indexes. Fails the rule if the value is not an array of
   * objects.
   */
  records(...path: readonly (string | number)[]): readonly JsonRecord[] {
    const items = this.array(...path);
    const odd = items.find((item) => !isRecord(item));
    if (odd !== undefined) throw new AssertionFailure(`every item of ${nameOf(path)} is an object`, 'an object', odd);
    return items as JsonRecord[];
  }

  #typed<Value>(path: readonly (string | number)[], kind: string, is: (value: unknown) => value is Value): Value {
    const value = this.find(...path);
    if (is(value)) return value;
    throw new AssertionFailure(
      `${nameOf(path)} is ${kind}`,
      kind,
      this.json === undefined ? `a body that is not JSON` : value,
    );
  }
}

function nameOf(path: readonly (string | number)[]): string {
  return path.length === 0 ? 'the body' : path.join('.');
}
