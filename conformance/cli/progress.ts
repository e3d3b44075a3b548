import type { Progress as RunProgress } from '../index.js';
import { isBroken } from '../report/reporter.js';
import type { Budget, RuleResult } from '../report/results.js';

/** What a run tells while it goes on. */
export interface Progress {
  /** About how much the run is going to ask. */
  readonly plan: (budget: Budget) => void;
  /** A rule has its verdict. */
  readonly show: (result: RuleResult) => void;
  /** A rule was tried, a request went out, or the target asked to wait. */
  readonly move: (progress: RunProgress) => void;
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

const SILENT: Progress = { plan: nothing, show: nothing, move: nothing, clear: nothing };

function nothing(): void {}

/**
 * On a terminal one line that is written over; elsewhere a line now and then, so that a log shows that a long run goes
 * on. `now`: milliseconds.
 */
export function createProgress(stream: ProgressStream, quiet: boolean, now: () => number): Progress {
  if (quiet) return SILENT;
  const isTerminal = stream.isTTY === true;
  const started = now();
  // `planned`: requests that the run is going to make, as far as is known.
  const state = { done: 0, total: 0, broken: 0, requests: 0, planned: 0, waiting: undefined as string | undefined };
  let answered = started;
  let written = started;
  let isShown = false;
  const write = (isDue: boolean) => {
    if (!isDue && now() - written < (isTerminal ? TERMINAL_PAUSE : LOG_PAUSE)) return;
    written = now();
    const idle = Math.round((now() - answered) / 1000);
    const waiting = state.waiting ?? (idle >= IDLE ? `waiting ${idle} s for an answer` : undefined);
    const line = lineOf({ ...state, waiting }, now() - started);
    isShown = isTerminal;
    stream.write(isTerminal ? `\r${line.slice(0, (stream.columns || 80) - 1)}\x1b[K` : `${line}\n`);
  };
  // What waits makes no events, and its time goes on.
  const ticker = isTerminal ? setInterval(() => write(true), 500) : setInterval(() => write(false), 1000);
  ticker.unref();
  return {
    plan: (budget) => {
      state.planned = budget.requests;
      // Where nothing holds the run back, it is over before this is read.
      if (budget.rate !== undefined) stream.write(`${planOf(budget)}\n`);
    },
    show: (result) => {
      if (isBroken(result, false)) state.broken += 1;
      write(false);
    },
    move: ({ done, total, requests, waitingSeconds }) => {
      if (requests !== state.requests) answered = now();
      const waiting =
        waitingSeconds > 0 ? `waiting ${Math.ceil(waitingSeconds)} s because the target asks to` : undefined;
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

function planOf({ requests, rate, seconds }: Budget): string {
  const pace = rate === undefined ? '' : `, at most ${rate.toFixed(rate < 10 ? 1 : 0)} a second`;
  return `about ${requests} requests${pace}${seconds === undefined ? '' : `: ${duration(seconds)}`}`;
}

function lineOf(
  { waiting, ...counts }: Readonly<Record<Count, number>> & { waiting: string | undefined },
  milliseconds: number,
): string {
  const { done, total, broken, requests, planned } = counts;
  const seconds = milliseconds / 1000;
  // Rules differ in what they ask, so that requests say more than rules where it is known how many there will be.
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
