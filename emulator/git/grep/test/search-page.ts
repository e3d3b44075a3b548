import { MemoryCache } from '../../../memory/memory-cache.js';
import type { Meter } from '../../../schedule/meter.js';
import type { ObjectReader, Oid } from '../../object/object.js';
import { compilePattern, type LineMatcher } from '../matcher.js';
import * as search from '../search.js';
import { TextCache } from '../text-cache.js';

/** Query whose pattern may be text in RE2 syntax. A compiled pattern already determines if case is ignored. */
export interface SearchQuery extends Omit<search.SearchQuery, 'pattern'> {
  readonly pattern: string | LineMatcher;
  readonly caseSensitive?: boolean;
}

/** Compiles the pattern and searches for it. */
export async function searchPage(
  cache: TextCache,
  tree: Oid,
  query: SearchQuery,
  limits: search.SearchLimits,
  meter: Meter,
): Promise<search.SearchPage> {
  const { pattern, caseSensitive, ...scope } = query;
  const matcher = typeof pattern === 'string' ? await compilePattern(pattern, caseSensitive === false, meter) : pattern;
  return search.searchPage(cache, tree, { pattern: matcher, ...scope }, limits, meter);
}

/** Returns a new cache. */
export function textCache(objects: ObjectReader, bytes = 64 << 20, maxFileBytes?: number): TextCache {
  const caches = new MemoryCache(bytes).group();
  return new TextCache(objects, () => caches, maxFileBytes);
}
