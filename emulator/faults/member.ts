import type { Key } from './key.js';

/** Member of a fault that states the requests it applies to, when it fires, or how it is listed. */
export interface Member {
  /** Path in JSON, such as `match.token.sub`. */
  readonly path: string;
  readonly label: string;
  /** Hint below the input field; may be empty. */
  readonly hint: string;
  /** Value of the member; for a record, one of its values. */
  readonly key: Key;
  /** Label for the names of a record, such as `Header name`; undefined for other members. */
  readonly nameOf?: string;
  /** Character that precedes the value in the text form, in place of a key. */
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
