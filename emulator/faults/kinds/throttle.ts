import { AMOUNT } from '../key.js';
import { DEFAULTS, type Kind, STAGE_SETS } from './kind.js';

/** Limit of the transfer rate, in bytes per second. It applies from the stage of the fault on. */
export interface Throttle {
  readonly bps: number;
}

export const throttle: Kind<Throttle> = {
  about: 'limits the transfer to this many bytes per second from the stage on',
  stages: STAGE_SETS.rate,
  defaults: DEFAULTS.before,
  keys: { bps: { about: 'Maximum number of bytes per second', ...AMOUNT } },
  needs: ['bps'],
  endsStage: () => false,
};
