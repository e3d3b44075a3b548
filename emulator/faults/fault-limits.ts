/** Limits for the faults of one world. */
export const FAULT_LIMITS = {
  /** Maximum number of registered faults. */
  registered: 1_000,
  /** Maximum number of different fault texts that requests have asked for; the least recently used is evicted. */
  inBand: 1_000,
  /** Maximum number of faults that one request may ask for. */
  perRequest: 32,
  /** Maximum number of entries of a sequence, and of actions of a fault. */
  actions: 1_000,
  /** Maximum number of separate counters (`by`); the least recently used is evicted. */
  counters: 10_000,
  /** Number of latest request ids that a fault keeps. */
  requestIds: 100,
  /** Maximum number of sentences about faults that did not fire in one journal entry. */
  reasons: 8,
  /** Maximum latency in milliseconds of real time, which is the maximum of a Node timer. */
  latency: 2 ** 31 - 1,
  /** Maximum number of progress lines. */
  floodLines: 100_000,
  /** Maximum number of characters of a text. */
  text: 4_096,
} as const;

/** Scenario id that a client may send. */
export const SCENARIO = /^[\w.:/-]{1,100}$/;
