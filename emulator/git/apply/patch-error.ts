/** Thrown when a patch cannot be read (`malformed`) or does not fit the tree (`mismatch`); worded as `git apply` does. */
export class PatchError extends Error {
  override readonly name = 'PatchError';
  constructor(
    readonly reason: 'malformed' | 'mismatch',
    message: string,
  ) {
    super(message);
  }
}

/** Thrown when data of a binary file cannot be read. */
export class CorruptBinaryPatch extends PatchError {
  constructor(message: string) {
    super('malformed', message);
  }
}
