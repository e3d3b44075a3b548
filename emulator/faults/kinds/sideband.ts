import { z } from 'zod';
import { choice, LINE, strict } from '../key.js';
import { DEFAULTS, type Kind, STAGE_SETS } from './kind.js';

/**
 * Message to a Git client on a side-band channel: 2 for progress, 3 for a fatal error. If the response has no
 * side-band, a fatal error is sent as an ERR packet instead.
 */
export interface Sideband {
  readonly band: 2 | 3;
  readonly text: string;
}

interface SidebandKeys {
  readonly band?: '2' | '3';
  readonly text?: string;
}

export const sideband: Kind<Sideband, SidebandKeys> = {
  about: 'sends the Git client a progress message (band 2) or a fatal error (band 3)',
  stages: STAGE_SETS.git,
  defaults: DEFAULTS.sideBand,
  keys: {
    band: { about: '2: progress message, 3: fatal error (default: 3)', ...choice(['2', '3']) },
    text: { about: 'Text of the message', ...LINE },
  },
  ofKeys: ({ band, text = 'injected fault' }) => ({ band: band === '2' ? 2 : 3, text }),
  toKeys: ({ band, text }) => ({ band: `${band}`, text }),
  schema: () =>
    strict({
      band: z.union([z.literal(2), z.literal(3)], { error: 'Must be 2 (progress message) or 3 (fatal error)' }),
      text: LINE.schema(),
    }),
  endsStage: ({ band }) => band === 3,
  stagesOf: ({ band }) => (band === 2 ? STAGE_SETS.sideBanded : STAGE_SETS.git),
};
