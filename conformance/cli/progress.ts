import type { Progress as RunProgress } from '../index.js';
import { isBroken } from '../report/reporter.js';
import type { Budget, RuleResult } from '../report/results.js';

/** Progress display of a run. */
export interface Progress {
  /** Shows the estimated number of requests and the estimated duration. */
  readonly plan: (budget: Budget) => void;
  /** Counts the result of one rule and updates the display. */
  readonly show: (result: RuleResult) => void;
  /**
   * Updates the display. Called after a rule was tried, a request was sent, or throttling by the target paused the run.
   */
  readonly move: (progress: RunProgress) => void;
  /** Ends the display. Removes its line from a terminal. */
  readonly clear: () => void;
}

/** Stream for the progress: standard error, or a replacement in tests. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly write: (text: string) => unknown;
}

/** Minimum time between two updates in milliseconds. `LOG_PAUSE` applies to log files and pipes. */
const TERMINAL_PAUSE = 100;
const LOG_PAUSE = 15_000;
/** Seconds without a new request until the progress line says that the run waits for a response. */
const IDLE = 3;

const SILENT: Progress = { plan: nothing, show: nothing, move: nothing, clear: nothing };

function nothing(): void {}

/**
 * Creates the progress display. A terminal shows one line that is overwritten. Other output, such as a CI log, gets a
 * new line every 15 seconds to show that the run continues. `now` returns milliseconds.
 */
export function createProgress(stream: ProgressStream, quiet: boolean, now: () => number): Progress {
  if (quiet) return SILENT;
  const isTerminal = stream.isTTY === true;
  const started = now();
  // `planned` is the estimated number of requests of the run; 0 if unknown.
  const state = { done: 0, total: 0, broken: 0, requests: 0, planned: 0, waiting: undefined as string | undefined };
  let answered = started;
  let written = started;
  let isShown = false;
  const write = (isDue: boolean) => {
    if (!isDue && now() - written < (isTerminal ? TERMINAL_PAUSE : LOG_PAUSE)) return;
    written = now();
    const idle = Math.round((now() - answered) / 1000);
    const waiting = state.waiting ?? (idle >= IDLE ? `waiting for a response for ${idle} s` : undefined);
    const line = lineOf({ ...state, waiting }, now() - started);
    isShown = isTerminal;
    stream.write(isTerminal ? `\r${line.slice(0, (stream.columns || 80) - 1)}\x1b[K` : `${line}\n`);
  };
  // Update the display by a timer too, because a waiting run causes no events.
  const ticker = isTerminal ? setInterval(() => write(true), 500) : setInterval(() => write(false), 1000);
  ticker.unref();
  return {
    plan: (budget) => {
      state.planned = budget.requests;
      // Show the estimate only if the rate is limited. An unlimited run ends before a user could read it.
      if (budget.rate !== undefined) stream.write(`${planOf(budget)}\n`);
    },
    show: (result) => {
      if (isBroken(result, false)) state.broken += 1;
      write(false);
    },
    move: ({ done, total, requests, waitingSeconds }) => {
      if (requests !== state.requests) answered = now();
      const waiting =
        waitingSeconds > 0 ? `waiting ${Math.ceil(waitingSeconds)} s, as Retry-After of the target demands` : undefined;
      const isDue = isTerminal && waiting !== undefined && state.waiting === undefined;
      Object.assign(state, { done, total, requests, waiting });
      write(isDue);
    },
    clear: () => {
      clearInterval(ticker);
      if (isShown) stream.write('\r\x1b[K');
      isShown = false;
    },
  };
}

type Count = 'done' | 'total' | 'broken' | 'requests' | 'planned';

function planOf({ requests, rate, seconds, adaptive }: Budget): string {
  const atMost = rate === undefined ? '' : `, at most ${rate.toFixed(rate < 10 ? 1 : 0)} a second`;
  const pace = adaptive === true ? `${atMost} unless RateLimit headers allow more` : atMost;
  return `about ${requests} requests${pace}${seconds === undefined ? '' : `: ${duration(seconds)}`}`;
}

function lineOf(
  { waiting, ...counts }: Readonly<Record<Count, number>> & { waiting: string | undefined },
  milliseconds: number,
): string {
  const { done, total, broken, requests, planned } = counts;
  const seconds = milliseconds / 1000;
  // Estimate the remaining time from the share of requests already sent, because rules send different numbers of
  // requests. If the planned number is unknown or exceeded, use the share of checked rules.
  const share = requests < planned ? requests / planned : total === 0 ? 0 : done / total;
  const parts = [
    `${done}/${total === 0 ? '?' : total} rules`,
    ...(broken > 0 ? [`${broken} broken`] : []),
    `${requests} requests`,
    ...(waiting !== undefined
      ? [waiting]
      : seconds < 1
        ? []
        : [
            `${(requests / seconds).toFixed(1)}/s`,
            ...(share > 0 && share < 1 ? [`${duration((seconds / share) * (1 - share))} left`] : []),
          ]),
  ];
  return parts.join(', ');
}

function duration(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  return whole < 60 ? `about ${whole} s` : `about ${Math.floor(whole / 60)} min ${whole % 60} s`;
}
