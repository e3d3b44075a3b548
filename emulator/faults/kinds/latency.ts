import { FAULT_LIMITS } from '../fault-limits.js';
import { choice, integer } from '../key.js';
import { DEFAULTS, type Kind, STAGE_SETS } from './kind.js';

/** Delay of a response, in milliseconds of real time. It passes even if the emulated clock is stopped. */
export interface Latency {
  /** Delay, or the mean of random delays. */
  readonly ms: number;
  /**
   * Spread of random delays, in milliseconds. For `uniform`, the largest difference from the mean. For `normal` and
   * `lognormal`, the standard deviation. If absent, all delays are equal.
   */
  readonly jitter?: number;
  /** Distribution of random delays. Default: `uniform`. */
  readonly dist?: 'uniform' | 'normal' | 'lognormal';
}

const MS = integer(1, FAULT_LIMITS.latency);

export const latency: Kind<Latency> = {
  about: 'delays the request by this time, in real time; random with a jitter',
  stages: STAGE_SETS.delay,
  defaults: DEFAULTS.before,
  keys: {
    ms: { about: 'Delay in milliseconds, or the mean of random delays', ...MS },
    jitter: { about: 'Spread of random delays, in milliseconds (default: none)', ...MS },
    dist: { about: 'Distribution of random delays (default: uniform)', ...choice(['uniform', 'normal', 'lognormal']) },
  },
  needs: ['ms'],
  requires: { dist: 'jitter' },
  draw: (value, random) => ({ ms: value.jitter === undefined ? value.ms : delayOf(value, random) }),
  endsStage: () => false,
};

/** Returns a random delay in whole milliseconds, from 0 to the longest allowed latency. */
function delayOf({ ms, jitter = 0, dist = 'uniform' }: Latency, random: () => number): number {
  const delay = DISTRIBUTIONS[dist](ms, jitter, random);
  return Math.round(Math.min(Math.max(0, delay), FAULT_LIMITS.latency));
}

/** Functions that return a random number with this mean and spread. */
const DISTRIBUTIONS: Readonly<
  Record<NonNullable<Latency['dist']>, (mean: number, spread: number, random: () => number) => number>
> = {
  uniform: (mean, spread, random) => mean + (2 * random() - 1) * spread,
  normal: (mean, deviation, random) => mean + deviation * standardNormal(random),
  // The logarithm has a normal distribution. Its variance and mean follow from those of the delay.
  lognormal: (mean, deviation, random) => {
    const variance = Math.log(1 + (deviation / mean) ** 2);
    return Math.exp(Math.log(mean) - variance / 2 + Math.sqrt(variance) * standardNormal(random));
  },
};

/** Returns a number with the standard normal distribution, by the Box-Muller transform. */
function standardNormal(random: () => number): number {
  // 1 - random() is never 0, so its logarithm is finite.
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
