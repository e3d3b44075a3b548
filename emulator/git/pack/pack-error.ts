/**
 * Reason why a received pack was refused:
 *
 * - `corrupt`: it is malformed.
 * - `limit`: it exceeds a limit.
 * - `unresolved`: the base of a delta is missing.
 * - `collision`: it contains an object whose id belongs to different content.
 */
export type PackIssue = 'corrupt' | 'limit' | 'unresolved' | 'collision';

/**
 * Error for a received pack that cannot be stored. The message is the text that `git index-pack` prints after `fatal:`.
 */
export class PackError extends Error {
  override readonly name = 'PackError';
  constructor(
    readonly issue: PackIssue,
    message: string,
  ) {
    super(message);
  }

  /** Creates the error for a malformed entry. `offset` is the position of the entry in the pack, in bytes. */
  static at(offset: number, reason: string): PackError {
    return new PackError('corrupt', `pack has bad object at offset ${offset}: ${reason}`);
  }

  static tooLarge(what: string, size: number, limit: number): PackError {
    return new PackError('limit', `${what} of ${size} bytes exceeds the limit of ${limit} bytes`);
  }
}

/** Error for an object that is too large for the store. Both sizes are in bytes. */
export class ObjectTooLarge extends Error {
  override readonly name = 'ObjectTooLarge';
  constructor(
    readonly size: number,
    readonly limit: number,
  ) {
    super(`an object of ${size} bytes exceeds the limit of ${limit} bytes`);
  }
}
