/**
 * Returns the own member of a table; undefined if absent. Needed for names from outside, because `table[name]` also
 * finds inherited members such as `constructor`.
 */
export function ownValue<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
