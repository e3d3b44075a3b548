import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Memory and event loop delay of a server process. This module is preloaded into the server process to measure them. It
 * reports for each IPC message from the parent process, and then restarts the measurement of the delay. For the message
 * `true`, it first runs a full garbage collection.
 */
export interface Vitals {
  /** Bytes in the JavaScript heap. */
  readonly heap: number;
  /** Size in bytes of the JavaScript heap and of buffers outside of the heap. */
  readonly held: number;
  readonly rss: number;
  /** Event loop delay since the previous report, in milliseconds: the 99th percentile, and the maximum (`delayMax`). */
  readonly delayP99: number;
  readonly delayMax: number;
}

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();

process.on('message', (collects) => {
  const delays = { delayP99: delay.percentile(99) / 1e6, delayMax: delay.max / 1e6 };
  if (collects) globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send!({ heap: heapUsed, held: heapUsed + external, rss, ...delays } satisfies Vitals);
  delay.reset();
  // Restarts the measurement again: the garbage collection itself has blocked the event loop, which must not count.
  if (collects) setTimeout(() => delay.reset(), 50).unref();
});
// Lets the process end when the server has stopped. The IPC channel would otherwise keep it alive.
process.channel?.unref();
