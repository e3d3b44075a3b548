/** Why a pack was refused: it is not a pack, it is too much, its bases are missing, or it forges an id. */
export type PackFault = 'corrupt' | 'limit' | 'unresolved' | 'collision';

/** Thrown when a pack cannot be taken in. The text is what `git index-pack` would print after `fatal:`. */
export class PackError extends Error {
  override readonly name = 'PackError';
  constructor(
    readonly fault: PackFault,
    message: string,
  ) {
    super(message);
  }

  /** A fault of the entry that starts at byte `offset` of the pack. */
  static at(offset: number, reason: string): PackError {
    return new PackError('corrupt', `pack has bad object at offset ${offset}: ${reason}`);
  }

  static tooLarge(what: string, size: number, limit: number): PackError {
    return new PackError('limit', `${what} of ${size} bytes exceeds the limit of ${limit} bytes`);
  }
}

/** Thrown when an object alone is larger than a store takes. */
export class ObjectTooLarge extends Error {
  override readonly name = 'ObjectTooLarge';
  constructor(
    readonly size: number,
    readonly limit: number,
  ) {
    super(`an object of ${size} bytes exceeds the limit of ${limit} bytes`);
  }
}
