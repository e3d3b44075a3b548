import { FAULT_LIMITS } from '../fault-limits.js';
import { AMOUNT, integer } from '../key.js';
import { DEFAULTS, type Kind } from './kind.js';

/** Transfer of the response body in small pieces. Each piece is written separately, with a pause after it. */
export interface Slice {
  /** Size of a piece in bytes. */
  readonly size: number;
  /** Pause after each piece, in milliseconds of real time. Default: 0. */
  readonly pause?: number;
}

export const slice: Kind<Slice> = {
  about: 'sends the response body in pieces of this size in bytes, with a pause in milliseconds after each piece',
  stages: ['response.body', 'git.advertise', 'git.pack', 'git.report'],
  defaults: { ...DEFAULTS.sent, gitInfoRefs: 'git.advertise', gitReceivePack: 'git.report' },
  keys: {
    size: { about: 'Size of a piece, in bytes', ...AMOUNT },
    pause: { about: 'Pause after each piece, in milliseconds (default: 0)', ...integer(0, FAULT_LIMITS.pause) },
  },
  needs: ['size'],
  endsStage: () => false,
};
