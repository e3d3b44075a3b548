import type { Key } from './key.js';

/** One member of a fault that says which requests it meets, when, or how it is listed. */
export interface Member {
  /** Path in JSON, such as `match.token.sub`. */
  readonly path: string;
  readonly label: string;
  /** What a form shows below the field; may be empty. */
  readonly hint: string;
  /** The value; of a record, one value. */
  readonly key: Key;
  /** What the names of a record are, such as `Header name`; undefined for other members. */
  readonly nameOf?: string;
  /** The character that it stands behind in the text form, in place of a key. */
  readonly mark?: '*' | '+';
}

/** Returns the object's own member; undefined if absent. */
export function ownMember(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** Returns the member at a path of names; undefined if absent. */
export function valueAt(value: unknown, names: readonly string[]): unknown {
  return names.reduce(ownMember, value);
}

/** Returns a copy with the value at a path of names, each an own member, also `__proto__`. */
export function withValueAt(target: unknown, [first, ...rest]: readonly string[], value: unknown): object {
  const inner = rest.length === 0 ? value : withValueAt(ownMember(target, first!) ?? {}, rest, value);
  return Object.fromEntries([...Object.entries(target as object), [first!, inner]]);
}
