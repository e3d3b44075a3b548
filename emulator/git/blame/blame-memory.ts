import type { CacheGroup, CacheRegion } from '../../memory/memory-cache.js';
import type { ByteString } from '../object/bytes.js';
import type { Oid } from '../object/object.js';
import type { BlamedLines } from './blamed-lines.js';

/** About what the lines of one commit in a row take, and what a key does. */
const BLAME_BYTES = 160;
const KEY_BYTES = 400;

/** Whole files of one repository that were blamed before, each as the commit has it that last changed it. */
export interface KnownBlames {
  get(commit: Oid, path: ByteString): readonly BlamedLines[] | undefined;
  keep(commit: Oid, path: ByteString, blamed: readonly BlamedLines[]): void;
}

/**
 * What blames of any repositories found, as long as there is room. Where the lines of a file come from depends on
 * nothing but the commit and the path, and neither ever changes.
 */
export class BlameMemory {
  readonly #blames: CacheRegion<string, readonly BlamedLines[]>;

  constructor(caches: CacheGroup) {
    this.#blames = caches.region((blamed) => KEY_BYTES + blamed.length * BLAME_BYTES);
  }

  /** `repository` has to be a name that is never given to another repository. */
  of(repository: string): KnownBlames {
    const blames = this.#blames;
    const keyOf = (commit: Oid, path: ByteString) => `${repository}/${commit}/${path}`;
    return {
      get: (commit, path) => blames.get(keyOf(commit, path)),
      keep: (commit, path, blamed) => blames.set(keyOf(commit, path), blamed),
    };
  }
}

/** The part of a whole file's blame that concerns `count` lines from `start` on, which are lines `final` on elsewhere. */
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
