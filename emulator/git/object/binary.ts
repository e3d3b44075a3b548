const FIRST_FEW_BYTES = 8000;

/** Returns true if a NUL is among the first 8000 bytes, as Git's `buffer_is_binary` does. */
export function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, FIRST_FEW_BYTES).includes(0);
}
