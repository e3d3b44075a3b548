import { z } from 'zod';
import { problem } from '../http/problem.js';
import { lazy } from '../memory/lazy.js';
import type { HandlerContext } from '../operation/operation.js';

/** The query parameters every list takes. */
export const pageQuery = lazy(() => ({ cursor: z.string().optional(), limit: z.string().optional() }));

/** At the end of a list the cursor is null, or may be absent. */
export const pageEnd = lazy(() => ({ next_cursor: z.string().nullish(), has_more: z.boolean() }));

export interface PageQuery {
  readonly cursor?: string | undefined;
  readonly limit?: string | undefined;
}

/** The most items that a request may ask for, and those of a page of one that does not ask. */
export interface PageSize {
  readonly cap: number;
  readonly usual: number;
}

const PAGE: PageSize = { cap: 100, usual: 20 };

/** A `limit` parameter: whole and at least 1, clamped to `cap`. */
export function readLimit(text: string | undefined, { cap, usual }: PageSize): number {
  if (text === undefined) return usual;
  if (!/^[1-9]\d{0,15}$/.test(text)) throw problem('bad_request', 'limit has to be a whole number of at least 1.');
  return Math.min(Number(text), cap);
}

/**
 * Reads the cursor of a list and writes further ones. A cursor is bound to `list`: its name, the id of its repository
 * (another one may have the name later), and whatever else selects the items.
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
  /** Returns the last members of a page, with a cursor at `position` if there are more items. */
  const end = (hasMore: boolean, position: () => Position) => ({
    next_cursor: hasMore ? cursors.write(purpose, position()) : null,
    has_more: hasMore,
  });
  return {
    position: cursor === undefined ? undefined : cursors.read<Position>(purpose, cursor),
    cursorAt: (position: Position) => cursors.write(purpose, position),
    end,
    /**
     * Takes one page from `items`, in slices, behind the first `skip` items. `undefined` stands for what was looked at and is
     * no item. `positionOf` is told the last item, and how many there were up to it.
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

/** What `show` makes of each item, made when it is written: one may be large. */
export function* mapped<T, Shown>(items: Iterable<T>, show: (item: T) => Shown): Generator<Shown> {
  for (const item of items) yield show(item);
}
