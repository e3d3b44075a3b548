const MIB = 1024 * 1024;

/** Limits of one object store. Each limit is checked before the memory is allocated. */
export interface StoreLimits {
  /** Maximum size in bytes of a received pack. */
  readonly packBytes: number;
  /** Maximum size in bytes of an inflated object of any type. */
  readonly objectBytes: number;
  /**
   * Maximum size in bytes of an inflated commit, tree or tag. It is a separate limit, because these objects are always
   * read as a whole.
   */
  readonly structureBytes: number;
  /**
   * Maximum sum of the inflated sizes in bytes of all entries of a pack. A delta counts with its own size, not with
   * that of its result.
   */
  readonly inflatedBytes: number;
  /** Maximum number of objects in a pack. */
  readonly objects: number;
  /**
   * Maximum number of bytes that applying all deltas of a pack may write, as a multiple of the inflated size of the
   * pack.
   */
  readonly deltaWork: number;
  /**
   * Number of bytes that applying deltas may always write, even beyond `deltaWork`. A small pack with one long chain of
   * deltas is legitimate.
   */
  readonly freeDeltaWork: number;
  /**
   * Maximum number of bytes of delta bases that stay inflated in memory while a pack is ingested. Deltas may take half
   * as many bytes in addition. Bases beyond the limit are inflated again when they are needed.
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
