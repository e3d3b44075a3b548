import { z } from 'zod';
import { problem } from '../http/problem.js';
import { once } from '../memory/once.js';
import type { Meter } from '../schedule/meter.js';
import type { World } from '../world/world.js';

/** The query parameters every list takes. */
export const pageQuery = once(() => ({ cursor: z.string().optional(), limit: z.string().optional() }));

/** At the end of a list the cursor is null, or may be absent. */
export const pageEnd = once(() => ({ next_cursor: z.string().nullish(), has_more: z.boolean() }));

const DEFAULT_LIMIT = 20;

/** A `limit` parameter: whole and at least 1, clamped to `cap`. */
export function readLimit(text: string | undefined, cap: number, fallback = DEFAULT_LIMIT): number {
  if (text === undefined) return fallback;
  if (!/^[1-9]\d{0,15}$/.test(text)) throw problem('bad_request', 'limit has to be a whole number of at least 1.');
  return Math.min(Number(text), cap);
}

/**
 * Reads the cursor of a list and writes further ones. A cursor is bound to `list`: its name, the id of its repository
 * (another one may have the name later), and whatever else selects the items.
 */
export function openList<Position>(
  { engine: { cursors } }: Pick<World, 'engine'>,
  cursor: string | undefined,
  list: readonly unknown[],
) {
  const purpose = JSON.stringify(list);
  return {
    position: cursor === undefined ? undefined : cursors.read<Position>(purpose, cursor),
    cursorAt: (position: Position) => cursors.write(purpose, position),
    /** Returns the last members of a page, with a cursor at `position` if there are more items. */
    end: (hasMore: boolean, position: () => Position) => ({
      next_cursor: hasMore ? cursors.write(purpose, position()) : null,
      has_more: hasMore,
    }),
  };
}

/** Takes one page from `items`: asks for one more than the page holds, to know whether another follows. */
export function takePage<T>(items: Iterable<T>, limit: number): { page: T[]; hasMore: boolean } {
  const page: T[] = [];
  for (const item of items) {
    if (page.length === limit) return { page, hasMore: true };
    page.push(item);
  }
  return { page, hasMore: false };
}

/**
 * As `takePage`, in slices: for a list as long as a history, or whose items are few among many. `undefined` stands for
 * what was looked at and is no item; the first `skip` items are passed over.
 */
export async function takeLongPage<T>(
  items: Iterable<T | undefined>,
  limit: number,
  meter: Meter,
  skip = 0,
): Promise<{ page: T[]; hasMore: boolean }> {
  const page: T[] = [];
  let left = skip;
  for (const item of items) {
    if (meter.isOver) await meter.pass();
    if (item === undefined || left-- > 0) continue;
    if (page.length === limit) return { page, hasMore: true };
    page.push(item);
  }
  return { page, hasMore: false };
}

/** What `show` makes of each item, made when it is written: one may be large. */
export function* mapped<T, Shown>(items: Iterable<T>, show: (item: T) => Shown): Generator<Shown> {
  for (const item of items) yield show(item);
}
