const SNIFFED = 8000;

/** Git's test: a NUL among the first 8000 bytes. */
export function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, SNIFFED).includes(0);
}
