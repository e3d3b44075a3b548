import type { Flags, Values } from './command.js';
import { type DescribedTarget, wordsOf } from './target-options.js';
import { rate, seconds, wholeNumber } from './values.js';

/** How a target is treated, whatever is asked of it. */
export const MANNER_FLAGS = {
  timeout: { read: wholeNumber(), describe: 'Milliseconds for one answer; default: 15000' },
  rate: { read: rate, describe: 'Requests a second, or unlimited; default: 5, unlimited on an emulator' },
  window: { read: seconds, describe: 'Seconds over which the requests are spread' },
} satisfies Flags;

type MannerArguments = Values<typeof MANNER_FLAGS>;

export interface Manners {
  readonly timeout: number;
  /** Infinite where there is no limit; undefined where nothing was said. */
  readonly rate: number | undefined;
  readonly window: number | undefined;
}

/** Flags say more than a target file. */
export function mannersOf(args: MannerArguments, described: DescribedTarget | undefined): Manners {
  const written = described?.rate === 'unlimited' ? Number.POSITIVE_INFINITY : described?.rate;
  return {
    timeout: args.timeout ?? described?.timeout ?? 15_000,
    rate: args.rate ?? written,
    window: args.window ?? described?.window,
  };
}

/** The flags that a command needs which checks a rule again; one rule is not spread. */
export function repeatedManners(args: MannerArguments): string[] {
  const { window: _window, ...flags } = MANNER_FLAGS;
  return wordsOf(flags, args);
}
