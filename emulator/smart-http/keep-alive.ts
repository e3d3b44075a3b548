import type { Buffer } from 'node:buffer';

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
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, every, false);
    });
    const isOver = await Promise.race([ended, silence]);
    clearTimeout(timer);
    if (isOver) return work;
    yield sign;
  }
}
