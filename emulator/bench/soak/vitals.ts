import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Preloaded into the server's process. Reports memory and delay over IPC. A request for vitals is answered after a full
 * garbage collection, a request for the delay without one. Both restart the measurement of the event loop's delay.
 */
export interface Vitals {
  /** Bytes of JavaScript values. */
  readonly heap: number;
  /** Bytes of values and of buffers outside of the heap. */
  readonly held: number;
  readonly rss: number;
  /** Maximum resident set size so far. */
  readonly peak: number;
  /** Milliseconds since the last request. */
  readonly delayP99: number;
  readonly delayMax: number;
}

/**
 * Returns `VmHWM` of proc(5). The value of getrusage(2) includes the maximum of the parent when it started this
 * process.
 */
function highestResidentSet(): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1];
  return Number(kilobytes) * 1024;
}

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();

if (process.send) {
  process.on('message', (question) => {
    const { delayP99, delayMax } = { delayP99: delay.percentile(99) / 1e6, delayMax: delay.max / 1e6 };
    if (question === 'delay') {
      delay.reset();
      process.send!(delayMax);
      return;
    }
    globalThis.gc?.();
    const { heapUsed, external, rss } = process.memoryUsage();
    const peak = highestResidentSet();
    const vitals: Vitals = { heap: heapUsed, held: heapUsed + external, rss, peak, delayP99, delayMax };
    process.send!(vitals);
    // The collection itself blocked the event loop, so its delay is not counted.
    setTimeout(() => delay.reset(), 50).unref();
  });
  // The IPC channel must not keep a stopped server alive.
  process.channel?.unref();
}
