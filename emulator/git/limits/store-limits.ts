const MIB = 1024 * 1024;

/** Limits of one object store. Each limit is checked before the memory is allocated. */
export interface StoreLimits {
  /** Maximum size in bytes of a received pack. */
  readonly packBytes: number;
  /** Maximum size in bytes of an inflated object of any type. */
  readonly objectBytes: number;
  /**
   * Maximum size in bytes of an inflated commit, tree or tag. These types have their own limit, because they are always
   * read as a whole.
   */
  readonly structureBytes: number;
  /**
   * Maximum sum in bytes of the inflated sizes of all entries of a pack. For a delta, the size of the delta counts, not
   * the size of the object it produces.
   */
  readonly inflatedBytes: number;
  /** Maximum number of objects in a pack. */
  readonly objects: number;
  /**
   * Maximum number of bytes written while applying all deltas of a pack. The unit is the inflated size of the pack: 100
   * means 100 times that size.
   */
  readonly deltaWork: number;
  /**
   * Number of bytes that applying deltas may always write, even beyond `deltaWork`. It exists because a small pack with
   * one long delta chain is legitimate.
   */
  readonly freeDeltaWork: number;
  /**
   * Maximum number of bytes of delta bases that stay inflated in memory while a pack is received. Bases beyond the
   * limit are inflated again when needed. Inflated deltas may take half as many bytes in addition.
   */
  readonly workBytes: number;
}

/** Default values of all limits. Command line options replace some of them. */
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
