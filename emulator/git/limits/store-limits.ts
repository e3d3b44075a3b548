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
  /** Bytes the store may hold, packs and indexes together. */
  readonly heldBytes: number;
}

export const DEFAULT_LIMITS: StoreLimits = {
  packBytes: 1024 * MIB,
  objectBytes: 256 * MIB,
  structureBytes: 64 * MIB,
  inflatedBytes: 4096 * MIB,
  objects: 5_000_000,
  deltaWork: 100,
  freeDeltaWork: 1024 * MIB,
  workBytes: 128 * MIB,
  heldBytes: Number.POSITIVE_INFINITY,
};
