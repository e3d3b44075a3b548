import { z } from 'zod';
import { mapped, openList, type PageQuery, pageEnd } from '../api/paging.js';
import { largeJson, type Reply } from '../http/reply.js';
import type { AdminContext } from './route.js';

/** Query parameters of every admin route that returns a list. */
export const listQuery = {
  cursor: z.string().optional(),
  limit: z.string().optional().meta({ description: 'Maximum number of items, from 1 to 1000; default 100.' }),
};

export function listOf(item: z.ZodType): z.ZodType {
  return z.object({ items: z.array(item), ...pageEnd() });
}

/** Maximum (`cap`) and default (`usual`) number of items in one response. */
export const LIST_SIZE = { cap: 1000, usual: 100 };

interface Listed<T> {
  /**
   * Identity of the list: its name, and the parameters that select its items. A cursor is valid only for the list that
   * created it.
   */
  readonly of: readonly unknown[];
  /** All items of the list, in order. */
  readonly items: Iterable<T>;
  /** Returns a text that identifies an item as long as it exists. Default: the item's `id`. */
  readonly keyOf?: (item: T) => string;
  readonly show?: (item: T) => unknown;
  /** Further members of the response, such as the number of all items. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** List of items. The function `keyOf` is required if the items have no `id`. */
export type List<T> = Listed<T> &
  ([T] extends [{ readonly id: string }] ? object : { readonly keyOf: (item: T) => string });

/** Content of a cursor: the key of the last returned item, and the number of items returned so far. */
type Position = readonly [key: string, count: number];

/**
 * Returns one page of a list as a response. The page begins after the last item of the previous page. If that item was
 * removed in the meantime, the page begins at the item's former index.
 */
export async function writeList<T>(
  ctx: Pick<AdminContext<PageQuery>, 'world' | 'meter' | 'query'>,
  { of, items, keyOf = idOf, show = (item) => item, more }: List<T>,
): Promise<Reply> {
  const list = openList<Position>(ctx, ctx.query, ['admin', ...of], LIST_SIZE);
  const all = [...items];
  const skip = list.position === undefined ? 0 : placeAfter(all.map(keyOf), list.position);
  const { page, end } = await list.take(all, (last, count) => [keyOf(last), count], skip);
  return largeJson(200, { items: mapped(page, show), ...more, ...end });
}

function idOf(item: unknown): string {
  return (item as { readonly id: string }).id;
}

function placeAfter(keys: readonly string[], [key, count]: Position): number {
  const at = keys.indexOf(key);
  return at < 0 ? Math.min(count, keys.length) : at + 1;
}
