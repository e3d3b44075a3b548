import type { Flags, Values } from './command.js';
import type { DescribedTarget } from './target-options.js';
import { rate, seconds, wholeNumber } from './values.js';

/** Flags for the timeout and the rate of requests. */
export const PACE_FLAGS = {
  timeout: { read: wholeNumber(), describe: 'Timeout of a request in milliseconds; default: 15000' },
  rate: {
    read: rate,
    describe:
      'Maximum requests per second, or unlimited; default: what the RateLimit headers of the target allow, 5 without them, unlimited on an emulator',
  },
} satisfies Flags;

/** Flags for the pace of a run: timeout and rate of requests, and the period over which requests are spread. */
export const MANNER_FLAGS = {
  ...PACE_FLAGS,
  window: { read: seconds, describe: 'Spread the requests over this many seconds' },
} satisfies Flags;

/**
 * Returns the pace of a run: timeout in milliseconds, requests per second, and the number of seconds over which
 * requests are spread. Flags take precedence over the target file (description of the service under test). The rate is
 * `Infinity` if unlimited, undefined if not given.
 */
export function mannersOf(
  args: Values<typeof PACE_FLAGS> & { window?: number | undefined },
  described: DescribedTarget | undefined,
) {
  const written = described?.rate === 'unlimited' ? Number.POSITIVE_INFINITY : described?.rate;
  return {
    timeout: args.timeout ?? described?.timeout ?? 15_000,
    rate: args.rate ?? written,
    window: args.window ?? described?.window,
  };
}
