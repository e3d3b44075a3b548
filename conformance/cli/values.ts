import { isRecord } from '../http/exchange.js';
import { isDate } from '../report/baseline.js';
import type { Shard } from '../report/results.js';
import { parseJson } from '../target/json.js';
import { PREFIX, PREFIX_WORDS } from '../target/target-file.js';
import { UsageError } from './usage-error.js';

/**
 * Parser of the value that a user typed for a flag. Throws `UsageError`. Its message reads like `must be …`, because
 * the name of the flag is put before it.
 */
export type Read<Value> = (typed: string) => Value;

export function wanted(what: string, typed: string): UsageError {
  return new UsageError(`must be ${what}, not ${JSON.stringify(typed)}`);
}

export function text(what: string): Read<string> {
  return (typed) => {
    if (typed === '') throw wanted(what, typed);
    return typed;
  };
}

export const fileName = text('the name of a file');

export function choice<const Value extends string>(values: readonly Value[]): Read<Value> {
  return (typed) => {
    const value = values.find((one) => one === typed);
    if (value === undefined) throw wanted(`one of ${values.join(', ')}`, typed);
    return value;
  };
}

/**
 * Returns a parser for whole numbers from `min` to `max`. The default maximum is the longest timer delay in
 * milliseconds, about 24 days.
 */
export function wholeNumber(max = 2 ** 31 - 1, min = 1): Read<number> {
  return (typed) => {
    const value = /^\d+$/.test(typed) ? Number(typed) : -1;
    if (value < min || value > max) throw wanted(`a whole number from ${min} to ${max}`, typed);
    return value;
  };
}

function aboveZero(what: string, max = Number.MAX_VALUE): Read<number> {
  return (typed) => {
    const value = /^\d+(\.\d+)?$/.test(typed) ? Number(typed) : 0;
    if (value === 0 || value > max) throw wanted(what, typed);
    return value;
  };
}

const perSecond = aboveZero('a number above 0, or unlimited');

/** Parses a number of requests per second, such as `0.5`. `unlimited` gives `Infinity`. */
export const rate: Read<number> = (typed) => (typed === 'unlimited' ? Number.POSITIVE_INFINITY : perSecond(typed));

/** Parses a number of seconds, at most one week. */
export const seconds: Read<number> = aboveZero('a number of seconds above 0 and up to 604800', 604_800);

/** Parses a shard, such as `2/4` for the second of four. A shard is one part of all rules, for parallel runs. */
export const shard: Read<Shard> = (typed) => {
  const [, index = 0, count = 0] = (/^(\d{1,6})\/(\d{1,6})$/.exec(typed) ?? []).map(Number);
  if (index < 1 || index > count) throw wanted('a shard, such as 1/4 or 4/4', typed);
  return { index, count };
};

/** Parses the name of an environment variable. */
export const variable: Read<string> = (typed) => {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(typed)) throw new UsageError('must be the name of an environment variable');
  return typed;
};

export const prefix: Read<string> = (typed) => {
  if (!PREFIX.test(typed)) throw new UsageError(`${PREFIX_WORDS}, not ${JSON.stringify(typed)}`);
  return typed;
};

/** Parses a calendar date, such as `2027-01-31`. The date must exist. */
export const date: Read<string> = (typed) => {
  if (!isDate(typed)) throw wanted('a date like 2027-01-31', typed);
  return typed;
};

/** Parses a comma-separated list of names. Throws `UsageError` if a name is empty. */
export const list: Read<readonly string[]> = (typed) => {
  const values = typed.split(',').map((value) => value.trim());
  if (values.includes('')) throw wanted('names separated by commas', typed);
  return values;
};

export const httpAddress: Read<string> = (typed) => {
  if (!URL.canParse(typed) || !/^https?:$/.test(new URL(typed).protocol)) {
    throw wanted('an http or https address', typed);
  }
  return typed;
};

export const jsonObject: Read<Readonly<Record<string, unknown>>> = (typed) => {
  const value = parseJson(typed);
  if (!isRecord(value)) throw wanted('a JSON object', typed);
  return { ...value };
};
