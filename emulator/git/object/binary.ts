const FIRST_FEW_BYTES = 8000;

/** Returns true if one of the first 8000 bytes of a blob is a NUL. Git's `buffer_is_binary` makes the same decision. */
export function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, FIRST_FEW_BYTES).includes(0);
}
