import { FAULT_LIMITS } from '../fault-limits.js';
import { integer } from '../key.js';
import { DEFAULTS, type Kind } from './kind.js';

/** Refusal of all new connections to the port for a time. The connection at which the fault fires is reset. */
export interface Refuse {
  /** Time during which the port refuses connections, in milliseconds of real time. */
  readonly ms: number;
}

export const refuse: Kind<Refuse> = {
  about: 'resets the connection, and lets the port refuse all further connections for this time, in real time',
  stages: ['accept'],
  defaults: DEFAULTS.accept,
  keys: { ms: { about: 'Time in milliseconds', ...integer(1, FAULT_LIMITS.refusal) } },
  needs: ['ms'],
  endsStage: () => true,
};
