import type { ByteString } from '../object/bytes.js';

const FIRST_SIZE = 64;
const GROWTH = 4;
const LOAD = 0.8;

/**
 * Distinct strings in the order in which Git's hash table gives back what was put in in this one. Where equal files
 * compete for a rename, the order in which Git comes across them decides, and it comes across some of them this way.
 */
export function inHashOrder(strings: Iterable<ByteString>): ByteString[] {
  let table: ByteString[][] = Array.from({ length: FIRST_SIZE }, () => []);
  let size = 0;
  for (const string of strings) {
    // New ones go to the front of their bucket.
    bucketOf(table, string).unshift(string);
    if (++size <= Math.trunc(table.length * LOAD)) continue;
    const old = table;
    table = Array.from({ length: old.length * GROWTH }, () => []);
    for (const bucket of old) for (const moved of bucket) bucketOf(table, moved).unshift(moved);
  }
  return table.flat();
}

function bucketOf(table: ByteString[][], string: ByteString): ByteString[] {
  // FNV-1, 32 bits.
  let hash = 0x811c9dc5;
  for (let at = 0; at < string.length; at++) hash = Math.imul(hash, 0x01000193) ^ string.charCodeAt(at);
  return table[(hash >>> 0) & (table.length - 1)]!;
}
