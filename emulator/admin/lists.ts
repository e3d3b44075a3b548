import { z } from 'zod';
import { mapped, openList, pageEnd, readLimit, takePage } from '../api/paging.js';
import { largeJson, type Reply } from '../http/reply.js';
import type { AdminContext } from './route.js';

/** The query parameters every list takes. */
export const listQuery = {
  cursor: z.string().optional(),
  limit: z.string().optional().meta({ description: 'At least 1; default 100, at most 1000.' }),
};

export interface ListQuery {
  readonly cursor?: string | undefined;
  readonly limit?: string | undefined;
}

export function listOf(item: z.ZodType): z.ZodType {
  return z.object({ items: z.array(item), ...pageEnd() });
}

const PAGE = 100;
const CAP = 1000;

export function readPageLimit({ limit }: ListQuery): number {
  return readLimit(limit, CAP, PAGE);
}

interface Listed<T> {
  /** What the list is of: its cursors continue no other. */
  readonly of: readonly unknown[];
  /** Items in the order of the list. */
  readonly items: Iterable<T>;
  /** What names an item as long as it is there. Default: its `id`. */
  readonly keyOf?: (item: T) => string;
  readonly show?: (item: T) => unknown;
}

/** A list of items that have an `id`, or of items with `keyOf`. */
export type List<T> = Listed<T> &
  ([T] extends [{ readonly id: string }] ? object : { readonly keyOf: (item: T) => string });

/** The last item of a page, and how many there were up to it. */
type Position = readonly [key: string, count: number];

/** One page of a list. It goes on behind the last item of the page before, or from its place where that item has gone. */
export function writeList<T>(
  { world, query }: AdminContext<ListQuery>,
  { of, items, keyOf = idOf, show = (item) => item }: List<T>,
): Reply {
  const limit = readPageLimit(query);
  const list = openList<Position>(world, query.cursor, ['admin', ...of]);
  const all = [...items];
  const skip = list.position === undefined ? 0 : placeAfter(all.map(keyOf), list.position);
  const { page, hasMore } = takePage(all.slice(skip), limit);
  const end = list.end(hasMore, () => [keyOf(page.at(-1)!), skip + page.length]);
  return largeJson(200, { items: mapped(page, show), ...end });
}

function idOf(item: unknown): string {
  return (item as { readonly id: string }).id;
}

function placeAfter(keys: readonly string[], [key, count]: Position): number {
  const at = keys.indexOf(key);
  return at < 0 ? Math.min(count, keys.length) : at + 1;
}
