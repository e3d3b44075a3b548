/** Limits for the injected faults of one world. A world is one emulated service with its own state. */
export const FAULT_LIMITS = {
  /** Maximum number of faults registered through the admin API. */
  registered: 1_000,
  /**
   * Maximum number of different fault texts from headers and claims that are kept. The least recently used text is
   * evicted.
   */
  inBand: 1_000,
  /** Maximum number of faults that one request may ask for in its header or its claim. */
  perRequest: 32,
  /** Maximum number of entries in `sequence`, and of actions in `do`, of one fault. */
  actions: 1_000,
  /**
   * Maximum number of counters of matching requests. A fault with `when.by` has one counter per value, for example per
   * repository. The least recently used counter is evicted.
   */
  counters: 10_000,
  /** Maximum number of request ids kept per fault: the ids of the latest requests for which it fired. */
  requestIds: 100,
  /** Maximum number of reasons in one journal entry. Each reason is a sentence that says why a fault did not fire. */
  reasons: 8,
  /** Maximum latency in milliseconds of real time. It is the longest delay that a Node timer supports. */
  latency: 2 ** 31 - 1,
  /**
   * Maximum pause between two pieces of a body, in milliseconds of real time. It is short, because a pause does not end
   * when the client disconnects.
   */
  pause: 10_000,
  /** Maximum time for which a port refuses connections, in milliseconds of real time. */
  refusal: 60_000,
  /** Maximum number of progress lines that a `flood` fault sends to a Git client. */
  floodLines: 100_000,
  /** Maximum length, in characters, of a regular expression in a fault. */
  expression: 1_000,
  /**
   * Maximum number of bytes that conditions on file contents compare: of each file, and of all files of a request. The
   * rest is ignored.
   */
  content: 1_048_576,
  contents: 16_777_216,
  /** Maximum number of characters of a text that a regular expression searches; the rest is ignored. */
  searched: 1_048_576,
  /** Maximum length, in characters, of a text in a fault, such as a note or a glob. */
  text: 4_096,
} as const;

/** Matches a valid scenario id. A client sends the id to say to which test scenario its request belongs. */
export const SCENARIO = /^[\w.:/-]{1,100}$/;
