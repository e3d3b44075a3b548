const MIB = 1024 * 1024;

/** Limits of one store. Each is checked before memory is allocated. */
export interface StoreLimits {
  /** Maximum bytes of a received pack. */
  readonly packBytes: number;
  /** Maximum bytes of an inflated object. */
  readonly objectBytes: number;
  /** Maximum bytes of an inflated commit, tree or tag, which are always read as a whole. */
  readonly structureBytes: number;
  /** Maximum inflated bytes of all entries of a pack. Deltas count in their delta form. */
  readonly inflatedBytes: number;
  /** Maximum number of entries of a pack. */
  readonly objects: number;
  /** Maximum bytes written by applying a pack's deltas, as a multiple of its inflated bytes. */
  readonly deltaWork: number;
  /** Bytes that deltas may write in any case, because a small pack with one long chain is legitimate. */
  readonly freeDeltaWork: number;
  /**
   * Maximum bytes of bases that stay inflated while a pack is ingested, and half as many of deltas. Beyond it, they are
   * inflated again.
   */
  readonly workBytes: number;
}

/** Defaults of all limits. Limits that have a command line option are set from that option. */
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
