/**
 * Returns the own property `name` of an object; undefined if absent. It must be used for names that come from users,
 * because `table[name]` also finds inherited properties such as `constructor`.
 */
export function ownValue<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
