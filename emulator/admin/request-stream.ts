import { setTimeout as pause } from 'node:timers/promises';
import type { CurrentWorld } from '../world/current-world.js';
import type { JournalEntry } from '../world/journal.js';

/** Milliseconds (real time) between two looks, and until a quiet stream says that it is still there. */
const LOOK = 50;
const QUIET = 15_000;

/**
 * The requests as server-sent events (WHATWG HTML, 9.2), from the one after `lastId` on, or from now on:
 *
 *     id: req-00000001
 *     event: request
 *     data: {…}
 *
 * `missed` says how many there were that the journal has no more, `reset` that the state was put back: ids start over.
 */
export async function* streamRequests(
  current: CurrentWorld,
  ended: AbortSignal,
  lastId: string | undefined,
): AsyncGenerator<Buffer> {
  let { world } = current;
  let last = lastId ?? lastOf(world.state.journal.entries());
  let quiet = 0;
  yield Buffer.from(': requests\n\n');
  while (!ended.aborted) {
    if (current.world !== world) {
      world = current.world;
      last = lastOf(world.state.journal.entries());
      yield event({ name: 'reset', id: last, data: {} });
    }
    const entries = [...world.state.journal.entries()].filter(({ id }) => id > last);
    const missed = entries.length > 0 ? numberOf(entries[0]!.id) - numberOf(last) - 1 : 0;
    if (missed > 0) yield event({ name: 'missed', id: last, data: { count: missed } });
    for (const entry of entries) {
      last = entry.id;
      yield event({ name: 'request', id: entry.id, data: entry });
    }
    quiet = entries.length > 0 ? 0 : quiet + LOOK;
    if (quiet >= QUIET) {
      quiet = 0;
      // A client that has gone is found out by writing to it.
      yield Buffer.from(':\n\n');
    }
    await pause(LOOK, undefined, { signal: ended }).catch(() => undefined);
  }
}

function lastOf(entries: Iterable<JournalEntry>): string {
  let last = '';
  for (const { id } of entries) last = id;
  return last;
}

/** The number in an id: `req-00000007` is 7; 0 where there is none. */
function numberOf(id: string): number {
  return Number(/\d+$/.exec(id)?.[0] ?? 0);
}

function event({ name, id, data }: { name: string; id: string; data: unknown }): Buffer {
  return Buffer.from(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}
