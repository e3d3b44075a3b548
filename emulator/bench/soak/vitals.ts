import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Memory and event loop delay of a server process, which this module measures. The module is preloaded into the server
 * process, and reports on each IPC message from the parent process. If the message is `true`, a full garbage collection
 * precedes the report. Each report restarts the measurement of the delay.
 */
export interface Vitals {
  /** Bytes in the JavaScript heap. */
  readonly heap: number;
  /** Bytes in the JavaScript heap and in buffers outside of the heap. */
  readonly held: number;
  readonly rss: number;
  /** 99th percentile of the event loop delay since the previous report, in milliseconds. `delayMax` is the maximum. */
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
  // Restart the measurement again, because the garbage collection itself blocked the event loop and must not be
  // counted.
  if (collects) setTimeout(() => delay.reset(), 50).unref();
});
// Do not let the IPC channel keep the process alive after the server has stopped.
process.channel?.unref();
