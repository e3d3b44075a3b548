/** What bounds the faults of one world. */
export const FAULT_LIMITS = {
  /** Faults that are registered at a time. */
  registered: 1_000,
  /** Different texts of faults that requests have asked for; the one asked for longest ago goes first. */
  inBand: 1_000,
  /** Faults that one request may ask for. */
  perRequest: 32,
  /** Entries of a sequence, and actions of a fault. */
  actions: 1_000,
  /** Counters of faults that count apart; the one used longest ago goes first. */
  counters: 10_000,
  /** Requests that are remembered of a fault: the last. */
  requestIds: 100,
  /** Sentences about faults that did not fire, in the journal's line of one request. */
  reasons: 8,
  /** Milliseconds of real time: what a timer of Node holds. */
  latency: 2 ** 31 - 1,
  /** Lines of progress. */
  floodLines: 100_000,
  /** Characters of a text. */
  text: 4_096,
} as const;

/** How a client names the scenario that it is in. */
export const SCENARIO = /^[\w.:/-]{1,100}$/;
