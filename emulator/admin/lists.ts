import { z } from 'zod';
import { mapped, openList, type PageQuery, pageEnd } from '../api/paging.js';
import { largeJson, type Reply } from '../http/reply.js';
import type { AdminContext } from './route.js';

/** The query parameters every list takes. */
export const listQuery = {
  cursor: z.string().optional(),
  limit: z.string().optional().meta({ description: 'At least 1; default 100, at most 1000.' }),
};

export function listOf(item: z.ZodType): z.ZodType {
  return z.object({ items: z.array(item), ...pageEnd() });
}

/** Sizes of the pages of every list. */
export const PAGE = { cap: 1000, usual: 100 };

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
export async function writeList<T>(
  ctx: Pick<AdminContext<PageQuery>, 'world' | 'meter' | 'query'>,
  { of, items, keyOf = idOf, show = (item) => item }: List<T>,
): Promise<Reply> {
  const list = openList<Position>(ctx, ctx.query, ['admin', ...of], PAGE);
  const all = [...items];
  const skip = list.position === undefined ? 0 : placeAfter(all.map(keyOf), list.position);
  const { page, end } = await list.take(all, (last, count) => [keyOf(last), count], skip);
  return largeJson(200, { items: mapped(page, show), ...end });
}

function idOf(item: unknown): string {
  return (item as { readonly id: string }).id;
}

function placeAfter(keys: readonly string[], [key, count]: Position): number {
  const at = keys.indexOf(key);
  return at < 0 ? Math.min(count, keys.length) : at + 1;
}
