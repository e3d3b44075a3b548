import { FAULT_LIMITS } from '../fault-limits.js';
import { integer } from '../key.js';
import { DEFAULTS, type Kind, STAGE_SETS } from './kind.js';

/** Delay of a response, in milliseconds of real time. It passes even if the emulated clock is stopped. */
export interface Latency {
  readonly ms: number;
}

export const latency: Kind<Latency> = {
  about: 'delays the request by this time, in real time',
  stages: STAGE_SETS.delay,
  defaults: DEFAULTS.before,
  keys: { ms: integer(1, FAULT_LIMITS.latency) },
  needs: ['ms'],
  endsStage: () => false,
};
