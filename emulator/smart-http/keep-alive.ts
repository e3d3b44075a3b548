import type { Buffer } from 'node:buffer';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * Awaits `work`; each time `every` milliseconds pass without an end, yields `sign`. Returns what the
 * work returns. A silent connection looks dead to proxies and to people.
 */
export async function* keepAlive<T>(work: Promise<T>, every: number, sign: Buffer): AsyncGenerator<Buffer, T> {
  const ended = work.then(
    () => true,
    () => true,
  );
  for (;;) {
    const timer = new AbortController();
    const isOver = await Promise.race([ended, wait(every, false, { signal: timer.signal }).catch(() => false)]);
    timer.abort();
    if (isOver) return work;
    yield sign;
  }
}
