/**
 * Returns a function that calls `create` on its first call, and returns this value on every call. It is for tables and
 * schemas that most processes never use.
 */
export function lazy<T>(create: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: create() };
    return made.value;
  };
}
