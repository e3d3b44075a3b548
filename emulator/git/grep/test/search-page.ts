import { MemoryCache } from '../../../memory/memory-cache.js';
import type { Meter } from '../../../schedule/meter.js';
import type { ObjectReader, Oid } from '../../object/object.js';
import { compilePattern, type LineMatcher } from '../matcher.js';
import * as search from '../search.js';
import { TextCache } from '../text-cache.js';

/**
 * Search query in tests. The pattern is text in RE2 syntax or a compiled pattern. A compiled pattern ignores
 * `caseSensitive`, because it already determines whether case matters.
 */
export interface SearchQuery extends Omit<search.SearchQuery, 'pattern'> {
  readonly pattern: string | LineMatcher;
  readonly caseSensitive?: boolean;
}

/** Calls the product's `searchPage`. A pattern that is text is compiled first. */
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

/** Creates a text cache with `bytes` bytes of memory. Files larger than `maxFileBytes` are not searched. */
export function textCache(objects: ObjectReader, bytes = 64 << 20, maxFileBytes?: number): TextCache {
  const caches = new MemoryCache(bytes).group();
  return new TextCache(objects, () => caches, maxFileBytes);
}
