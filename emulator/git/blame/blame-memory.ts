import type { CacheGroup, CacheRegion } from '../../memory/memory-cache.js';
import type { ByteString } from '../object/bytes.js';
import type { Oid } from '../object/object.js';
import type { BlamedLines } from './blamed-lines.js';

/**
 * Approximate memory in bytes: `BLAME_BYTES` for one cached `BlamedLines` (run of lines from one commit), `KEY_BYTES`
 * for the key of one result.
 */
const BLAME_BYTES = 160;
const KEY_BYTES = 400;

/**
 * Cache of blame results for whole files of one repository. The key of a result is the path of the file and the commit
 * that last changed the file.
 */
export interface KnownBlames {
  get(commit: Oid, path: ByteString): readonly BlamedLines[] | undefined;
  keep(commit: Oid, path: ByteString, blamed: readonly BlamedLines[]): void;
}

/**
 * LRU cache of blame results, shared by all repositories and limited in memory. Entries never expire, because the blame
 * of a file depends only on the commit and the path.
 */
export class BlameMemory {
  readonly #blames: CacheRegion<string, readonly BlamedLines[]>;

  constructor(caches: CacheGroup) {
    this.#blames = caches.region((blamed) => KEY_BYTES + blamed.length * BLAME_BYTES);
  }

  /**
   * Returns the part of the cache for one repository. Every key contains `repository`, so this must be a name that no
   * other repository ever gets.
   */
  of(repository: string): KnownBlames {
    const blames = this.#blames;
    const keyOf = (commit: Oid, path: ByteString) => `${repository}/${commit}/${path}`;
    return {
      get: (commit, path) => blames.get(keyOf(commit, path)),
      keep: (commit, path, blamed) => blames.set(keyOf(commit, path), blamed),
    };
  }
}

/**
 * Returns the part of a whole file's blame that covers `count` lines from line `start` on. In the result, these lines
 * are numbered from `final` on.
 */
export function partOfBlame(
  blamed: readonly BlamedLines[],
  { final, start, count }: { readonly final: number; readonly start: number; readonly count: number },
): BlamedLines[] {
  const part: BlamedLines[] = [];
  let low = 0;
  let high = blamed.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (blamed[middle]!.start <= start) low = middle;
    else high = middle - 1;
  }
  for (let at = low; at < blamed.length && blamed[at]!.start < start + count; at++) {
    const found = blamed[at]!;
    const from = Math.max(start, found.start);
    const to = Math.min(start + count, found.start + found.count);
    if (from >= to) continue;
    const originalStart = found.originalStart + from - found.start;
    part.push({ ...found, start: final + from - start, count: to - from, originalStart });
  }
  return part;
}
