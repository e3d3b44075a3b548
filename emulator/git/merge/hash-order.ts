import type { ByteString } from '../object/bytes.js';

const FIRST_SIZE = 64;
const GROWTH = 4;
const LOAD = 0.8;

/**
 * Returns distinct strings in the order in which Git's hash table (`hashmap.c`) iterates over them after they were
 * inserted in the given order. Git visits some files in this order during a merge. It matters, because the first of
 * several equal files that Git visits counts as renamed.
 */
export function inHashOrder(strings: Iterable<ByteString>): ByteString[] {
  let table: ByteString[][] = Array.from({ length: FIRST_SIZE }, () => []);
  let size = 0;
  for (const string of strings) {
    // A new entry is inserted at the front of its bucket, as in Git.
    bucketOf(table, string).unshift(string);
    if (++size <= Math.trunc(table.length * LOAD)) continue;
    const old = table;
    table = Array.from({ length: old.length * GROWTH }, () => []);
    for (const bucket of old) for (const moved of bucket) bucketOf(table, moved).unshift(moved);
  }
  return table.flat();
}

function bucketOf(table: ByteString[][], string: ByteString): ByteString[] {
  // This is the 32-bit FNV-1 hash, which Git uses for paths.
  let hash = 0x811c9dc5;
  for (let at = 0; at < string.length; at++) hash = Math.imul(hash, 0x01000193) ^ string.charCodeAt(at);
  return table[(hash >>> 0) & (table.length - 1)]!;
}
