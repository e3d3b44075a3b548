/**
 * Limits for the faults (injected errors, delays and cuts) of one world, which is one emulated service with its own
 * state.
 */
export const FAULT_LIMITS = {
  /** Maximum number of faults registered through the admin API. */
  registered: 1_000,
  /**
   * Maximum number of different texts of in-band faults (faults that a request asks for in a header or claim) that are
   * remembered. The least recently used is evicted.
   */
  inBand: 1_000,
  /** Maximum number of faults that one request may ask for in its header or its claim. */
  perRequest: 32,
  /** Maximum number of entries of a fault's `sequence`, and of actions in its `do`. */
  actions: 1_000,
  /**
   * Maximum number of counters of matching requests. A fault with `when.by` has one for each value, such as each
   * repository. The least recently used counter is evicted.
   */
  counters: 10_000,
  /** Number of request ids that a fault keeps: those of the last requests for which it fired. */
  requestIds: 100,
  /** Maximum number of reasons (one sentence each) in one journal entry that explain why faults did not fire. */
  reasons: 8,
  /** Maximum latency in milliseconds of real time, which is the maximum of a Node timer. */
  latency: 2 ** 31 - 1,
  /** Maximum number of progress lines that a `flood` fault sends to a Git client. */
  floodLines: 100_000,
  /** Maximum number of characters of a text in a fault, such as a note or a glob. */
  text: 4_096,
} as const;

/** Matches a valid scenario id in a request, which a client sends to say to which test scenario the request belongs. */
export const SCENARIO = /^[\w.:/-]{1,100}$/;
