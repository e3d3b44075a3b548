import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Preloaded into the server's process. Reports memory and delay over IPC. The request is `true` if a full garbage
 * collection has to precede the report. Every request restarts the measurement of the event loop's delay.
 */
export interface Vitals {
  /** Bytes of JavaScript values. */
  readonly heap: number;
  /** Bytes of values and of buffers outside of the heap. */
  readonly held: number;
  readonly rss: number;
  /** Milliseconds since the last request. */
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
  // The collection itself blocked the event loop, so its delay is not counted.
  if (collects) setTimeout(() => delay.reset(), 50).unref();
});
// The IPC channel must not keep a stopped server alive.
process.channel?.unref();
