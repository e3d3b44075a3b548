import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Loaded into the server's process before anything else: tells over IPC how the process is. A question for vitals is
 * answered after a full garbage collection, one for the delay as it is; both start the measure of the event loop's
 * delay anew.
 */
export interface Vitals {
  /** Bytes of JavaScript values. */
  readonly heap: number;
  /** Bytes of values and of buffers beside them. */
  readonly held: number;
  readonly rss: number;
  /** The most it ever was. */
  readonly peak: number;
  /** Milliseconds since the last question. */
  readonly delayP99: number;
  readonly delayMax: number;
}

/** proc(5), `VmHWM`. What getrusage(2) tells also holds the most that the parent had when it started this process. */
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
    // The collection itself held the loop up; that is not the server's doing.
    setTimeout(() => delay.reset(), 50).unref();
  });
  // The channel alone does not keep a server alive that was asked to stop.
  process.channel?.unref();
}
