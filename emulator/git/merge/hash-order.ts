import type { ByteString } from '../object/bytes.js';

const FIRST_SIZE = 64;
const GROWTH = 4;
const LOAD = 0.8;

/**
 * Returns distinct strings, inserted in the given order, in the iteration order of Git's hash table (`hashmap.c`). When
 * equal files compete for a rename, the first one that Git visits wins, and Git visits some of them in hash order.
 */
export function inHashOrder(strings: Iterable<ByteString>): ByteString[] {
  let table: ByteString[][] = Array.from({ length: FIRST_SIZE }, () => []);
  let size = 0;
  for (const string of strings) {
    // New entries go to the front of their bucket.
    bucketOf(table, string).unshift(string);
    if (++size <= Math.trunc(table.length * LOAD)) continue;
    const old = table;
    table = Array.from({ length: old.length * GROWTH }, () => []);
    for (const bucket of old) for (const moved of bucket) bucketOf(table, moved).unshift(moved);
  }
  return table.flat();
}

function bucketOf(table: ByteString[][], string: ByteString): ByteString[] {
  // FNV-1 hash, 32 bits.
  let hash = 0x811c9dc5;
  for (let at = 0; at < string.length; at++) hash = Math.imul(hash, 0x01000193) ^ string.charCodeAt(at);
  return table[(hash >>> 0) & (table.length - 1)]!;
}
