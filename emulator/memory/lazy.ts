/**
 * Returns a function that calls `create` on its first call and returns the created value on every call. It is used for
 * tables and schemas that most processes never need.
 */
export function lazy<T>(create: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: create() };
    return made.value;
  };
}
