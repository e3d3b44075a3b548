/**
 * Reason why a received pack was refused. `corrupt`: it is malformed. `limit`: it exceeds a limit. `unresolved`: the
 * base of a delta is missing. `collision`: it contains an object whose id belongs to different content.
 */
export type PackIssue = 'corrupt' | 'limit' | 'unresolved' | 'collision';

/**
 * Error thrown if a received pack cannot be stored. The message is the one that `git index-pack` prints after `fatal:`.
 */
export class PackError extends Error {
  override readonly name = 'PackError';
  constructor(
    readonly issue: PackIssue,
    message: string,
  ) {
    super(message);
  }

  /** Creates the error for a malformed entry that starts at byte `offset` of the pack. */
  static at(offset: number, reason: string): PackError {
    return new PackError('corrupt', `pack has bad object at offset ${offset}: ${reason}`);
  }

  static tooLarge(what: string, size: number, limit: number): PackError {
    return new PackError('limit', `${what} of ${size} bytes exceeds the limit of ${limit} bytes`);
  }
}

/** Error thrown if an object to be stored is larger than the limit of the store, in bytes. */
export class ObjectTooLarge extends Error {
  override readonly name = 'ObjectTooLarge';
  constructor(
    readonly size: number,
    readonly limit: number,
  ) {
    super(`an object of ${size} bytes exceeds the limit of ${limit} bytes`);
  }
}
