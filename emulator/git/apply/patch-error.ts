/**
 * Thrown if a patch is invalid (`malformed`) or does not fit the tree (`mismatch`). The message has the wording of `git
 * apply`.
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

/** Thrown if data of a binary file is invalid. */
export class CorruptBinaryPatch extends PatchError {
  constructor(message: string) {
    super('malformed', message);
  }
}
