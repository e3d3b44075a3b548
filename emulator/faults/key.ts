import { z } from 'zod';
import { FAULT_LIMITS } from './fault-limits.js';

/** Description of the values that a key accepts, from which the page builds an input field. */
export interface KeyForm {
  readonly type: 'integer' | 'number' | 'text' | 'choice';
  readonly least?: number;
  readonly most?: number;
  /** Values that are valid in addition to those of the type. For a choice: all values. */
  readonly values?: readonly string[];
  /** Maximum number of characters. */
  readonly longest?: number;
  readonly example: string;
}

/** Type of a value in a fault, with its text form (`;key=value`) and its JSON form. */
export interface Key<Value = unknown> {
  /** End of the error message "must be …". */
  readonly wants: string;
  readonly form: KeyForm;
  /** Parses the text form of a value. Returns undefined if it is invalid. */
  read(text: string): Value | undefined;
  schema(): z.ZodType;
}

export const MOST = 1_000_000_000;

export function integer(min: number, max: number): Key<number> {
  return {
    wants: `a whole number from ${min} to ${max}`,
    form: { type: 'integer', least: min, most: max, example: String(Math.max(min, 0)) },
    read: (text) => {
      const value = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
    schema: () => z.int().min(min).max(max),
  };
}

export function choice<const Value extends string>(values: readonly [Value, ...Value[]]): Key<Value> {
  return {
    wants: `one of ${values.join(', ')}`,
    form: { type: 'choice', values, example: values[0] },
    read: (text) => values.find((value) => value === text),
    schema: () => z.enum(values),
  };
}

/** Returns a key for texts that match `allowed`. `message` is the error for JSON. */
export function pattern(wants: string, allowed: RegExp, example: string, message = `Must be ${wants}`): Key<string> {
  return {
    wants,
    form: { type: 'text', example },
    read: (text) => (allowed.test(text) ? text : undefined),
    schema: () => z.string().regex(allowed, message),
  };
}

/** Returns a key for texts that `isValid` accepts. `wants` describes them. */
export function textThat(wants: string, example: string, isValid: (text: string) => boolean) {
  return {
    wants,
    form: { type: 'text', longest: FAULT_LIMITS.text, example },
    read: (text) => (text !== '' && text.length <= FAULT_LIMITS.text && isValid(text) ? text : undefined),
    schema: () => z.string().min(1).max(FAULT_LIMITS.text).refine(isValid, `Must be ${wants}`),
  } satisfies Key<string>;
}

const ANY_TEXT = `a text of 1 to ${FAULT_LIMITS.text} characters`;

export const TEXT = textThat(ANY_TEXT, '*', () => true);

/** Text for one line of a protocol. Control characters are invalid, because they would end the line. */
export const LINE = {
  ...textThat(ANY_TEXT, 'injected fault', (text) => /^[^\p{Cc}]+$/u.test(text)),
  schema: () => TEXT.schema().regex(/^[^\p{Cc}]+$/u, 'Must be one line without control characters'),
} satisfies Key<string>;

export const COUNT = integer(0, MOST);
export const AMOUNT = integer(1, MOST);

export const FRACTION: Key<number> = {
  wants: 'a number from 0 to 1',
  form: { type: 'number', least: 0, most: 1, example: '0.5' },
  read: (text) => (/^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?|\.\d{1,9})$/.test(text) ? Number(text) : undefined),
  schema: () => z.number().min(0).max(1),
};

/** Returns a key for values separated by commas. */
export function listOf<Value>(key: Key<Value>, min: number, max: number): Key<readonly Value[]> {
  return {
    wants: `${key.wants}; separate several by commas`,
    form: { type: 'text', example: key.form.example },
    read: (text) => {
      const values = text.split(',').map((one) => key.read(one.trim()));
      return values.includes(undefined) ? undefined : (values as Value[]);
    },
    schema: () => z.array(key.schema()).min(min).max(max),
  };
}

/** Returns the schema of an object that has only these members. Its error messages list them. */
export function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `Unknown member ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}; the members are ${known}`
        : undefined,
  });
}
