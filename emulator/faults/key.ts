import { z } from 'zod';
import { FAULT_LIMITS } from './fault-limits.js';

/**
 * Description of the values that a key of a fault accepts, such as `bytes` in `cut;bytes=10`. The fault editor (a web
 * page) builds an input field from it.
 */
export interface KeyForm {
  readonly type: 'integer' | 'number' | 'text' | 'choice';
  readonly least?: number;
  readonly most?: number;
  /**
   * Valid words. For a choice, these are all valid values. For other types, they are valid in addition, such as `omit`
   * for a number of seconds.
   */
  readonly values?: readonly string[];
  /** Maximum number of characters of a text value. */
  readonly longest?: number;
  readonly example: string;
}

/** Type of a value in a fault, for both of its forms: text (`;key=value`) and JSON. */
export interface Key<Value = unknown> {
  /** Description of the valid values. Error messages put it after "must be". */
  readonly wants: string;
  readonly form: KeyForm;
  /** Parses the value of `;key=value` after percent-decoding. Returns undefined if the value is invalid. */
  read(text: string): Value | undefined;
  /** Returns the schema that validates the value in the JSON form. */
  schema(): z.ZodType;
}

/** Key of one kind of fault: its type, and its meaning for this kind. */
export interface NamedKey extends Key {
  /** Meaning of the key, such as `Size of a piece, in bytes`. */
  readonly about: string;
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

/**
 * Returns a type for texts that match the regular expression `allowed`. `message` is the error for an invalid text in
 * JSON.
 */
export function pattern(wants: string, allowed: RegExp, example: string, message = `Must be ${wants}`): Key<string> {
  return {
    wants,
    form: { type: 'text', example },
    read: (text) => (allowed.test(text) ? text : undefined),
    schema: () => z.string().regex(allowed, message),
  };
}

/** Returns a type for non-empty texts that `isValid` accepts. `wants` describes these texts in error messages. */
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

/**
 * Text that is sent as one line of the Git protocol, such as a progress message. Control characters are invalid,
 * because a line feed would end the line.
 */
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

/** Returns a type for a list of values. In the text form, commas separate the values. */
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

/**
 * Returns the schema of an object that has only the members of `shape`. The error for an unknown member lists the valid
 * ones.
 */
export function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `Unknown member ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}; the members are ${known}`
        : undefined,
  });
}
