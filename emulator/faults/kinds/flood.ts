import { FAULT_LIMITS } from '../fault-limits.js';
import { choice, integer, LINE, strict } from '../key.js';
import { DEFAULTS, type Kind, STAGE_SETS } from './kind.js';

/** Progress lines to send to a Git client on side-band channel 2: their number and text. */
export interface Flood {
  readonly lines?: number;
  readonly text?: string;
}

interface FloodKeys extends Flood {
  readonly band?: '2';
}

const LINES = integer(1, FAULT_LIMITS.floodLines);

export const flood: Kind<Flood, FloodKeys> = {
  about: 'sends the Git client many progress messages (band 2)',
  stages: STAGE_SETS.sideBanded,
  defaults: DEFAULTS.sideBand,
  keys: {
    band: { about: 'Side-band of the messages', ...choice(['2']) },
    text: { about: 'Text of each message', ...LINE },
    lines: { about: 'Number of messages', ...LINES },
  },
  ofKeys: ({ band: _, ...value }) => value,
  schema: () => strict({ lines: LINES.schema(), text: LINE.schema() }).partial(),
  endsStage: () => false,
};
