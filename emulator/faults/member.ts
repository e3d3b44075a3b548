import type { Key } from './key.js';

/**
 * Plain value in a fault's JSON form, such as a condition of `match`, a counter of `when`, or the note. The JSON
 * schema, the text form and the input field on the web page are all derived from this description.
 */
export interface Member {
  /** Path of the value in the fault's JSON form, such as `match.token.sub`. */
  readonly path: string;
  readonly label: string;
  /** Hint below the input field on the web page; may be empty. */
  readonly hint: string;
  /** Type of the value. For a record, such as `match.http.header`, the type of each value in the record. */
  readonly key: Key;
  /**
   * Label of the input field for a name in a record, such as `Header name`. Undefined if the member is not a record.
   */
  readonly nameOf?: string;
  /**
   * Character before the value in the text form of a fault, such as `*` in `rate_limited*2`. Undefined if the text form
   * is `;key=value`.
   */
  readonly mark?: '*' | '+';
}

/** Returns a member of an object; undefined if absent. Ignores inherited members, because a client chooses the name. */
export function ownMember(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** Returns the value at a path of member names; undefined if absent. */
export function valueAt(value: unknown, names: readonly string[]): unknown {
  return names.reduce(ownMember, value);
}

/**
 * Returns a copy of `target` with `value` at a path of member names. Creates missing objects on the path. Sets own
 * members only, even for the name `__proto__`.
 */
export function withValueAt(target: unknown, [first, ...rest]: readonly string[], value: unknown): object {
  const inner = rest.length === 0 ? value : withValueAt(ownMember(target, first!) ?? {}, rest, value);
  return Object.fromEntries([...Object.entries(target as object), [first!, inner]]);
}
