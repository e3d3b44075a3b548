/** Cost of elementary operations in work units. One unit is about a microsecond of CPU time on a typical machine. */
export const COST = {
  /** Looking up, comparing or hashing one number. */
  operation: 1 / 64,
  /** Reading, writing or sorting an entry of a folder (tree object). */
  entry: 1 / 4,
  /** Storing the name of a folder entry, or a changed path, for the first time. */
  name: 3 / 4,
  /** Splitting off, comparing or writing one line of a text. */
  line: 1 / 16,
  /** Finding and opening a Git object, without the work for its bytes. */
  object: 1,
  byteInflated: 1 / 256,
  byteDeflated: 1 / 32,
  byteHashed: 1 / 512,
  byteCopied: 1 / 4096,
  /** Processing one byte or character of a text in JavaScript code. */
  byteScanned: 1 / 256,
  /** Processing one byte or character in native code, such as `indexOf`. */
  byteFound: 1 / 2048,
} as const;
