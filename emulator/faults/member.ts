import type { Key } from './key.js';

/**
 * Member of a fault that is a plain value: a condition of `match`, a counter of `when`, or a note. The JSON schema, the
 * text form and the page's form are derived from it.
 */
export interface Member {
  /** Path in JSON, such as `match.token.sub`. */
  readonly path: string;
  readonly label: string;
  /** Hint below the input field; may be empty. */
  readonly hint: string;
  /** Type of the value. If the member is a record, such as `match.http.header`, the type of its values. */
  readonly key: Key;
  /** Label for the names in a record, such as `Header name`; undefined if the member is not a record. */
  readonly nameOf?: string;
  /**
   * Character that precedes the value in the text form, as in `rate_limited*2`; undefined if the text form is
   * `;key=value`.
   */
  readonly mark?: '*' | '+';
}

/** Returns an own member of an object; undefined if absent. */
export function ownMember(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** Returns the member at a path of names; undefined if absent. */
export function valueAt(value: unknown, names: readonly string[]): unknown {
  return names.reduce(ownMember, value);
}

/** Returns a copy with the value at a path of names. Sets own members only, also for the name `__proto__`. */
export function withValueAt(target: unknown, [first, ...rest]: readonly string[], value: unknown): object {
  const inner = rest.length === 0 ? value : withValueAt(ownMember(target, first!) ?? {}, rest, value);
  return Object.fromEntries([...Object.entries(target as object), [first!, inner]]);
}
