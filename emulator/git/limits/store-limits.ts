const MIB = 1024 * 1024;

/** What one store takes in. Every limit is checked before memory is set aside for what it limits. */
export interface StoreLimits {
  /** Bytes of one pack as it arrives. */
  readonly packBytes: number;
  /** Bytes of one inflated object. */
  readonly objectBytes: number;
  /** Bytes of one inflated commit, tree or tag: these are read whole wherever something is looked for. */
  readonly structureBytes: number;
  /** Bytes that all entries of one pack inflate to; deltas count as deltas. */
  readonly inflatedBytes: number;
  /** Entries of one pack. */
  readonly objects: number;
  /** Bytes that applying a pack's deltas may write, as a multiple of what the pack inflates to. */
  readonly deltaWork: number;
  /** Bytes that deltas may always write: a small pack with one long chain is no attack. */
  readonly freeDeltaWork: number;
  /** Bytes of bases, and half as many of deltas, kept inflated while a pack is taken in; beyond, they are inflated again. */
  readonly workBytes: number;
}

/** The limits that are not given. Those that have an option of the program have their defaults there. */
export const OTHER_LIMITS: StoreLimits = {
  packBytes: Number.POSITIVE_INFINITY,
  objectBytes: Number.POSITIVE_INFINITY,
  structureBytes: Number.POSITIVE_INFINITY,
  inflatedBytes: Number.POSITIVE_INFINITY,
  objects: Number.POSITIVE_INFINITY,
  deltaWork: 100,
  freeDeltaWork: 1024 * MIB,
  workBytes: 128 * MIB,
};
