/**
 * Lazy value: calls `create` on the first call and then returns the same value. Used for tables and schemas that most
 * processes never read.
 */
export function lazy<T>(create: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: create() };
    return made.value;
  };
}
