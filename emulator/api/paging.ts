import { z } from 'zod';
import { problem } from '../http/problem.js';
import { lazy } from '../memory/lazy.js';
import type { HandlerContext } from '../operation/operation.js';

/** Query parameters of all operations that return a list in pages. */
export const pageQuery = lazy(() => ({ cursor: z.string().optional(), limit: z.string().optional() }));

/** Response members that end each page of a list. On the last page, `next_cursor` is null or absent. */
export const pageEnd = lazy(() => ({ next_cursor: z.string().nullish(), has_more: z.boolean() }));

export interface PageQuery {
  readonly cursor?: string | undefined;
  readonly limit?: string | undefined;
}

/** Maximum (`cap`) and default (`usual`) number of items on a page. */
export interface PageSize {
  readonly cap: number;
  readonly usual: number;
}

const PAGE: PageSize = { cap: 100, usual: 20 };

/**
 * Parses the query parameter `limit`, an integer of at least 1. Larger values than `cap` are lowered to `cap`. Throws
 * `bad_request` for other text.
 */
export function readLimit(text: string | undefined, { cap, usual }: PageSize): number {
  if (text === undefined) return usual;
  if (!/^[1-9]\d{0,15}$/.test(text)) throw problem('bad_request', 'limit must be a whole number, at least 1.');
  return Math.min(Number(text), cap);
}

/**
 * Opens a list that is returned in pages. Decodes the cursor of the request, and creates cursors for the response.
 * `list` identifies the list by the operation, the repository's id (names can be reused), and all parameters that
 * select items. A cursor is valid only for the same `list`.
 */
export function openList<Position>(
  { world, meter }: Pick<HandlerContext, 'world' | 'meter'>,
  { cursor, limit }: PageQuery,
  list: readonly unknown[],
  size = PAGE,
) {
  const { cursors } = world.engine;
  const purpose = JSON.stringify(list);
  const max = readLimit(limit, size);
  /** Returns the response members that end a page. If there are more items, they contain a cursor for `position`. */
  const end = (hasMore: boolean, position: () => Position) => ({
    next_cursor: hasMore ? cursors.write(purpose, position()) : null,
    has_more: hasMore,
  });
  return {
    position: cursor === undefined ? undefined : cursors.read<Position>(purpose, cursor),
    cursorAt: (position: Position) => cursors.write(purpose, position),
    end,
    /**
     * Returns one page of `items` after the first `skip` items. Yields to the event loop while it works. Ignores
     * `undefined`, which iterables yield for candidates that are not items. `positionOf` returns the position for the
     * next cursor. Its arguments are the last item of the page, and the number of items up to that item.
     */
    take: async <T>(items: Iterable<T | undefined>, positionOf: (last: T, count: number) => Position, skip = 0) => {
      const page: T[] = [];
      let hasMore = false;
      let left = skip;
      for (const item of items) {
        if (meter.shouldYield) await meter.yieldToEventLoop();
        if (item === undefined || left-- > 0) continue;
        hasMore = page.length === max;
        if (hasMore) break;
        page.push(item);
      }
      return { page, end: end(hasMore, () => positionOf(page.at(-1)!, skip + page.length)) };
    },
  };
}

/**
 * Yields `show(item)` for each item. Results are created one at a time while the response is written, because a result
 * may be large.
 */
export function* mapped<T, Shown>(items: Iterable<T>, show: (item: T) => Shown): Generator<Shown> {
  for (const item of items) yield show(item);
}
