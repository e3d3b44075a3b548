import type { ByteString } from '../object/bytes.js';

const FIRST_SIZE = 64;
const GROWTH = 4;
const LOAD = 0.8;

/**
 * Returns distinct strings in the iteration order of Git's hash table (`hashmap.c`), after they were inserted in the
 * given order. Git visits some files in this order during a merge. The order matters, because the first of several
 * equal files counts as renamed.
 */
export function inHashOrder(strings: Iterable<ByteString>): ByteString[] {
  let table: ByteString[][] = Array.from({ length: FIRST_SIZE }, () => []);
  let size = 0;
  for (const string of strings) {
    // As in Git, a new entry is inserted at the front of its bucket.
    bucketOf(table, string).unshift(string);
    if (++size <= Math.trunc(table.length * LOAD)) continue;
    const old = table;
    table = Array.from({ length: old.length * GROWTH }, () => []);
    for (const bucket of old) for (const moved of bucket) bucketOf(table, moved).unshift(moved);
  }
  return table.flat();
}

function bucketOf(table: ByteString[][], string: ByteString): ByteString[] {
  // 32-bit FNV-1 hash, which Git uses for paths.
  let hash = 0x811c9dc5;
  for (let at = 0; at < string.length; at++) hash = Math.imul(hash, 0x01000193) ^ string.charCodeAt(at);
  return table[(hash >>> 0) & (table.length - 1)]!;
}
