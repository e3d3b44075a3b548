import { readTextFile, UnreadableFile } from '../system/text-file.js';
import { parseTime } from '../time/iso-8601.js';

/**
 * Error in the value of an option. The reader of the value throws it with the end of a sentence (`must be …`).
 * `readNamed` adds the name of the option in front.
 */
export class OptionError extends Error {
  override readonly name = 'OptionError';
}

/**
 * Function that reads the value of an option. `given` is text from a flag or an environment variable, or the value
 * itself from a caller of the library. Throws `OptionError`.
 */
export type Read<Value> = (given: unknown) => Value;

/** Row of the table of options. It has the default, help and reader of one option. */
export type Row<Value> = (undefined extends Value ? { readonly default?: Value } : { readonly default: Value }) & {
  /**
   * Placeholder for the value in the help, such as `FILE`. Undefined for a switch, which has no value and can be turned
   * off with `--no-…`.
   */
  readonly value?: string;
  readonly help: string;
  readonly repeatable?: true;
  readonly read: Read<Value>;
};

/**
 * Reads the value of an option. `source` is the flag, variable or member that contained the value. The message of an
 * `OptionError` begins with it.
 */
export function readNamed<Value>(source: string, read: Read<Value>, given: unknown): Value {
  try {
    return read(given);
  } catch (error) {
    throw error instanceof OptionError ? new OptionError(`${source} ${error.message}.`) : error;
  }
}

function wanted(what: string, given: unknown): OptionError {
  return new OptionError(`must be ${what}, not ${JSON.stringify(given) ?? String(given)}`);
}

export function text(what: string, pattern = /./): Read<string> {
  return (given) => {
    const value = typeof given === 'number' ? String(given) : given;
    if (typeof value !== 'string' || !pattern.test(value)) throw wanted(what, given);
    return value;
  };
}

/** Same as `text`, but for secret values. Error messages never contain the value. */
export function secret(what: string, pattern: RegExp): Read<string> {
  return (given) => {
    if (typeof given !== 'string' || !pattern.test(given)) throw new OptionError(`must be ${what}`);
    return given;
  };
}

/**
 * Pattern of a host name or address as in URLs (IPv6 in brackets). Underscores are permitted, because container names
 * may contain them.
 */
const HOST = String.raw`(\[[\da-fA-F:.]+\]|[\w-]+(\.[\w-]+)*\.?)`;

/** Reads the name of a host that the emulator may contact. All its ports are included. */
export const hostName = text('the name of a host, without scheme and port', new RegExp(`^${HOST}$`));

/** Reads a host as in the `Host` header. A port is permitted but ignored. */
export const servedHostName = text('the name of a host, without scheme', new RegExp(`^${HOST}(:\\d+)?$`));

/** Reads the file that an option names. Throws `OptionError` if the file cannot be read. */
export function readGivenFile(file: string): string {
  try {
    return readTextFile(file);
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    throw new OptionError(`cannot be read: ${JSON.stringify(file)} (${error.message})`);
  }
}

export function choice<const Value extends string>(values: readonly Value[]): Read<Value> {
  return (given) => {
    if (!(values as readonly unknown[]).includes(given)) throw wanted(`one of ${values.join(', ')}`, given);
    return given as Value;
  };
}

export function integer(min: number, max = Number.MAX_SAFE_INTEGER): Read<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
  return (given) => {
    const value = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given;
    if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) > max) {
      throw wanted(`a whole number ${range}`, given);
    }
    return value as number;
  };
}

const FLAG_VALUES: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  ['true', true],
  ['false', false],
  ['on', true],
  ['off', false],
]);

/** Reads a boolean value. The texts true, false, on and off are accepted. */
export const flag: Read<boolean> = (given) => {
  const value = FLAG_VALUES.get(given);
  if (value === undefined) throw wanted('true or false', given);
  return value;
};

const SIZES: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['KiB', 2 ** 10],
  ['MiB', 2 ** 20],
  ['GiB', 2 ** 30],
]);

const DURATIONS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

/**
 * Maximum duration in milliseconds, about 24 days. It is the maximum of Node's timers, because longer timers fire
 * immediately.
 */
const LONGEST_DURATION = 2 ** 31 - 1;

/** Reads a size in bytes, given as a number or as text such as `4194304` or `4MiB`. */
export const size = quantity(SIZES, 'a size such as 512KiB, 4MiB or 2GiB', Number.MAX_SAFE_INTEGER);

/**
 * Reads a duration in milliseconds, given as a number or as text such as `500ms` or `30s`. Text without a unit is
 * refused.
 */
export const duration = quantity(DURATIONS, 'a duration such as 500ms, 30s or 5m', LONGEST_DURATION);

function quantity(units: ReadonlyMap<string, number>, what: string, max: number): Read<number> {
  return (given) => {
    const inRange = (value: number) => Number.isSafeInteger(value) && value >= 0 && value <= max;
    if (typeof given === 'number' && inRange(given)) return given;
    const [, digits, unit] = (typeof given === 'string' && /^(\d+)([a-zA-Z]*)$/.exec(given)) || [];
    const factor = unit === undefined ? undefined : units.get(unit);
    const value = factor === undefined ? Number.NaN : Number(digits) * factor;
    if (!inRange(value)) throw wanted(what, given);
    return value;
  };
}

/** Readers and writers for the values of limits, by unit. Limits with any other unit use `COUNT`. */
export const UNITS: Readonly<Record<string, { read: Read<number>; value: string; write: (amount: number) => string }>> =
  {
    bytes: { read: size, value: 'SIZE', write: writeSize },
    ms: { read: duration, value: 'TIME', write: writeDuration },
  };
export const COUNT = { read: integer(0), value: 'N', write: String };

function writeSize(bytes: number): string {
  const [unit, factor] = [...SIZES].findLast(([, each]) => bytes >= each && bytes % each === 0) ?? ['', 1];
  return `${bytes / factor}${unit}`;
}

function writeDuration(milliseconds: number): string {
  return milliseconds % 1000 === 0 ? `${milliseconds / 1000}s` : `${milliseconds}ms`;
}

/**
 * Returns a reader for a list of values. Text is split at commas, because an environment variable contains all values
 * of a list. The list must have at least `least` values, and no value twice. Text must contain at least one value.
 */
export function list<Value>(read: Read<Value>, rule: { least?: number } = {}): Read<readonly Value[]> {
  return (given) => {
    const parts = Array.isArray(given) ? given : [given];
    const min = parts.length > 0 ? 1 : (rule.least ?? 0);
    const items = parts.flatMap((part) => (typeof part === 'string' ? part.split(',') : [part]));
    const values = items.filter((item) => item !== '').map(read);
    if (values.length < min) throw new OptionError(`must have at least ${min} value`);
    const twice = values.find((value, at) => values.indexOf(value) !== at);
    if (twice !== undefined) throw new OptionError(`has the value ${JSON.stringify(twice)} twice`);
    return values;
  };
}

/**
 * Reads an object of URLs by name. The input is `name=url` pairs or such an object. The URLs are origins or prefixes.
 */
export function urlsByName(given: unknown): Readonly<Record<string, string>> {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  const pairs = isObject ? Object.entries(given) : list(text('NAME=URL'))(given).map(splitPair);
  for (const [name, url] of pairs) {
    if (!/^[a-z][a-z0-9-]*$/.test(name) || !isHttpUrl(url)) throw wanted('NAME=URL with an http or https URL', given);
  }
  return Object.fromEntries(pairs);
}

function splitPair(pair: string): [string, string] {
  const equals = pair.indexOf('=');
  return equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
}

function isHttpUrl(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

/**
 * Reads the URL under which clients reach the emulator. Credentials, query and fragment are not allowed. Final slashes
 * are removed.
 */
export function publicUrl(given: unknown): string {
  const url = isHttpUrl(given) ? new URL(given as string) : undefined;
  if (url?.username !== '' || url.password !== '' || /[?#]/.test(given as string)) {
    throw wanted('an http or https URL without credentials, query and fragment', given);
  }
  return url.href.replace(/\/+$/, '');
}

/**
 * Reads the option `clock`. The value is `real`, or the initial time of a clock that advances with each request. The
 * time is ISO 8601 text or milliseconds since 1970.
 */
export function clock(given: unknown): 'real' | number {
  if (given === 'real') return given;
  if (typeof given === 'number' && Number.isSafeInteger(given)) return given;
  const time = typeof given === 'string' ? parseTime(given) : undefined;
  if (time === undefined) throw wanted('"real" or an ISO 8601 time such as 2026-01-01T00:00:00Z', given);
  return time;
}

/** Reads a port, or a range of ports such as `9000-9099`. The range includes both ends. */
export function portRange(given: unknown): readonly number[] {
  if (Array.isArray(given) && given.length > 0 && given.every(isPort)) return given;
  const match = typeof given === 'string' ? /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(given) : null;
  const [first, last] = match ? [Number(match[1]), Number(match[2] ?? match[1])] : [Number.NaN, Number.NaN];
  if (!isPort(first) || !isPort(last) || last < first || (first === 0 && last > 0)) {
    throw wanted('a range of ports such as 9000-9099', given);
  }
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function isPort(port: unknown): boolean {
  return Number.isInteger(port) && Number(port) >= 0 && Number(port) <= 65_535;
}

/**
 * Reads the prefix of error codes about the external forge (hosting service), such as `forge` in
 * `forge_app_not_configured`.
 */
export const forgePrefix = text('1 to 32 lower-case letters and digits', /^[a-z0-9]{1,32}$/);
