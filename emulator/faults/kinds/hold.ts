import { pattern } from '../key.js';
import { DEFAULTS, type Kind, STAGE_SETS } from './kind.js';

/**
 * Name of a latch, which is a named barrier. Requests with this fault wait until a test releases the latch through the
 * admin API.
 */
export type Hold = string;

const LATCH = pattern('a name of letters, digits, _, . and -', /^[\w.-]{1,100}$/, 'gate');

export const hold: Kind<Hold, { readonly latch: string }> = {
  about: 'holds the request until the latch of this name is released (`emulator latch release NAME`)',
  stages: STAGE_SETS.delay,
  defaults: DEFAULTS.before,
  keys: { latch: { about: 'Name of the latch', ...LATCH } },
  needs: ['latch'],
  ofKeys: ({ latch }) => latch,
  toKeys: (latch) => ({ latch }),
  schema: LATCH.schema,
  endsStage: () => false,
};
