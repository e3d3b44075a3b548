const FIRST_FEW_BYTES = 8000;

/**
 * Returns true if a blob is binary: one of its first 8000 bytes is a NUL. Git's `buffer_is_binary` makes the same
 * decision.
 */
export function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, FIRST_FEW_BYTES).includes(0);
}
