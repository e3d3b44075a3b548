import type { Key } from './key.js';

/**
 * Member of a fault's JSON form that is a plain value, such as a condition of `match`, a counter of `when`, or the
 * note. The JSON schema, the text form and the form on the web page are all derived from this row.
 */
export interface Member {
  /** Path of the member in the JSON form of the fault, such as `match.token.sub`. */
  readonly path: string;
  readonly label: string;
  /** Hint below the input field on the web page; may be empty. */
  readonly hint: string;
  /** Type of the value. If the member is a record, such as `match.http.header`, the type of its values. */
  readonly key: Key;
  /**
   * Label for the input field of a name in a record, such as `Header name`; undefined if the member is not a record.
   */
  readonly nameOf?: string;
  /**
   * Character that precedes the value in the text form of a fault, as in `rate_limited*2`; undefined if the text form
   * is `;key=value`.
   */
  readonly mark?: '*' | '+';
}

/**
 * Returns a member of an object; undefined if absent. Ignores inherited members, because the name comes from a client.
 */
export function ownMember(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** Returns the value that is reached by a path of member names; undefined if absent. */
export function valueAt(value: unknown, names: readonly string[]): unknown {
  return names.reduce(ownMember, value);
}

/**
 * Returns a copy of `target` in which the member at a path of names has this value. Creates missing objects on the
 * path. Sets own members only, also for the name `__proto__`.
 */
export function withValueAt(target: unknown, [first, ...rest]: readonly string[], value: unknown): object {
  const inner = rest.length === 0 ? value : withValueAt(ownMember(target, first!) ?? {}, rest, value);
  return Object.fromEntries([...Object.entries(target as object), [first!, inner]]);
}
