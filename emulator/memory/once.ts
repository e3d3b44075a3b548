/** What `create` makes, made when it is first asked for: for tables and schemas that most processes never read. */
export function once<T>(create: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: create() };
    return made.value;
  };
}
