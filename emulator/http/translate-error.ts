/** Awaits `work`. Throws what `translate` makes of an error of the class `kind`, and any other error as it is. */
export async function translateError<T, Thrown extends Error>(
  kind: abstract new (...given: never[]) => Thrown,
  work: () => T | Promise<T>,
  translate: (error: Thrown) => Error,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof kind ? translate(error) : error;
  }
}
