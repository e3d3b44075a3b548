/** What elementary work costs, in units: about microseconds on an ordinary machine. */
export const COST = {
  /** A number looked up, compared or hashed. */
  operation: 1 / 64,
  /** An entry of a folder read, written or sorted. */
  entry: 1 / 4,
  /** A name of an entry, or a path that changed, kept for the first time. */
  name: 3 / 4,
  /** A line of a text cut, compared or written. */
  line: 1 / 16,
  /** An object found and opened, beside its bytes. */
  object: 1,
  byteInflated: 1 / 256,
  byteDeflated: 1 / 32,
  byteHashed: 1 / 512,
  byteCopied: 1 / 4096,
  /** A byte or character of a text that is looked at by code of ours. */
  byteScanned: 1 / 256,
  /** The same by code of the machine, as `indexOf` does. */
  byteFound: 1 / 2048,
} as const;
