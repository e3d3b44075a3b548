const FIRST_FEW_BYTES = 8000;

/** As Git's `buffer_is_binary`: whether there is a NUL among the first 8000 bytes. */
export function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, FIRST_FEW_BYTES).includes(0);
}
