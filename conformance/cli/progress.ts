import type { Progress as RunProgress } from '../index.js';
import type { RuleResult } from '../report/results.js';

/** What a run tells while it goes on. */
export interface Progress {
  /** A rule has its verdict. */
  readonly count: (result: RuleResult) => void;
  /** How far the run is. */
  readonly tell: (progress: RunProgress) => void;
  /** Takes the line away. */
  readonly clear: () => void;
}

/** Where the progress goes: standard error, or what stands for it in a test. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly write: (text: string) => unknown;
}

/** How often a terminal is written to, and how often a log. Milliseconds. */
const TERMINAL_PAUSE = 100;
const LOG_PAUSE = 15_000;
/** Without an answer for so long the line says so. Seconds. */
const IDLE = 3;

const SILENT: Progress = { count: nothing, tell: nothing, clear: nothing };

function nothing(): void {}

/**
 * On a terminal one line that is written over; elsewhere a line now and then, so that a log shows that a long run goes
 * on. `now`: milliseconds.
 */
export function createProgress(stream: ProgressStream, quiet: boolean, now: () => number): Progress {
  if (quiet) return SILENT;
  const isTerminal = stream.isTTY === true;
  const started = now();
  const state = { done: 0, total: 0, broken: 0, requests: 0, waiting: undefined as string | undefined };
  let answered = started;
  let written = started;
  const write = (isDue: boolean) => {
    if (!isDue && now() - written < (isTerminal ? TERMINAL_PAUSE : LOG_PAUSE)) return;
    written = now();
    const idle = Math.round((now() - answered) / 1000);
    const waiting = state.waiting ?? (idle >= IDLE ? `waiting ${idle} s for an answer` : undefined);
    const line = lineOf({ ...state, waiting }, now() - started);
    stream.write(isTerminal ? `\r${line.slice(0, (stream.columns ?? 80) - 1)}\x1b[K` : `${line}\n`);
  };
  // What waits makes no events, and its time goes on.
  const ticker = isTerminal ? setInterval(() => write(true), 500) : setInterval(() => write(false), 1000);
  ticker.unref();
  return {
    count: ({ verdict }) => {
      if (verdict === 'fail' || verdict === 'error') state.broken += 1;
    },
    tell: ({ done, total, requests, waitingSeconds }) => {
      const waiting =
        waitingSeconds > 0 ? `waiting ${Math.ceil(waitingSeconds)} s because the target asks to` : undefined;
      const isNew = waiting !== state.waiting;
      if (requests !== state.requests) answered = now();
      Object.assign(state, { done, total, requests, waiting });
      write(isTerminal && isNew);
    },
    clear: () => {
      clearInterval(ticker);
      if (isTerminal) stream.write('\r\x1b[K');
    },
  };
}

function lineOf(
  {
    done,
    total,
    broken,
    requests,
    waiting,
  }: Readonly<Record<'done' | 'total' | 'broken' | 'requests', number>> & {
    readonly waiting: string | undefined;
  },
  milliseconds: number,
): string {
  const seconds = milliseconds / 1000;
  const parts = [
    `${done}/${total === 0 ? '?' : total} rules`,
    ...(broken > 0 ? [`${broken} broken`] : []),
    `${requests} requests`,
    ...(seconds >= 1 ? [`${(requests / seconds).toFixed(1)}/s`] : []),
    ...(done > 0 && done < total && seconds >= 1 ? [`${duration((seconds / done) * (total - done))} left`] : []),
    ...(waiting === undefined ? [] : [waiting]),
  ];
  return parts.join(', ');
}

function duration(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  return whole < 60 ? `about ${whole} s` : `about ${Math.floor(whole / 60)} min ${whole % 60} s`;
}
