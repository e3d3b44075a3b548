/**
 * Error for a patch that is invalid (`malformed`) or does not fit the files of the tree (`mismatch`). The message has
 * the wording of `git apply`.
 */
export class PatchError extends Error {
  override readonly name = 'PatchError';
  constructor(
    readonly reason: 'malformed' | 'mismatch',
    message: string,
  ) {
    super(message);
  }
}

/** Error thrown if the data of a binary file in a patch is invalid. */
export class CorruptBinaryPatch extends PatchError {
  constructor(message: string) {
    super('malformed', message);
  }
}
