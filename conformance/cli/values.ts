import { UsageError } from './usage-error.js';

/** Reads the value of a flag as it was typed. Throws `UsageError` with the end of a sentence: `has to be …`. */
export type Read<Value> = (typed: string) => Value;

function wanted(what: string, typed: string): UsageError {
  return new UsageError(`has to be ${what}, not ${JSON.stringify(typed)}`);
}

export function text(what: string): Read<string> {
  return (typed) => {
    if (typed === '') throw wanted(what, typed);
    return typed;
  };
}

export function choice<const Value extends string>(values: readonly Value[]): Read<Value> {
  return (typed) => {
    const value = values.find((one) => one === typed);
    if (value === undefined) throw wanted(`one of ${values.join(', ')}`, typed);
    return value;
  };
}

/** A whole number from 1; `most` is 24 days in milliseconds, which is what a timer holds. */
export function wholeNumber(most = 2 ** 31 - 1): Read<number> {
  return (typed) => {
    const value = /^\d+$/.test(typed) ? Number(typed) : 0;
    if (value < 1 || value > most) throw wanted(`a whole number from 1 to ${most}`, typed);
    return value;
  };
}

/** A number above 0, such as 0.5. */
export const rate: Read<number> = (typed) => {
  const value = /^\d+(\.\d+)?$/.test(typed) ? Number(typed) : 0;
  if (value === 0 || !Number.isFinite(value)) throw wanted('a number above 0', typed);
  return value;
};

/** Several values between commas. */
export const list: Read<readonly string[]> = (typed) => {
  const values = typed.split(',').map((value) => value.trim());
  if (values.includes('')) throw wanted('names joined by commas', typed);
  return values;
};

export const httpAddress: Read<string> = (typed) => {
  if (!URL.canParse(typed) || !/^https?:$/.test(new URL(typed).protocol)) {
    throw wanted('an http or https address', typed);
  }
  return typed;
};

export const jsonObject: Read<Readonly<Record<string, unknown>>> = (typed) => {
  try {
    const value: unknown = JSON.parse(typed);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Told below.
  }
  throw wanted('a JSON object', typed);
};
