import { z } from 'zod';
import { COUNT, choice, FRACTION, strict } from '../key.js';
import { DEFAULTS, type Kind, STAGE_SETS } from './kind.js';

/**
 * Point at which a response body is truncated. Exactly one member is given.
 *
 * Offsets count payload bytes, without the framing of pkt-lines and side-bands. `objects` is the number of complete
 * pack objects that are sent. `beforeTrailer` truncates just before the checksum of a pack or the last flush-pkt.
 */
export interface CutPoint {
  readonly bytes?: number;
  /** Point as a fraction of the length of the whole payload, from 0 to 1. */
  readonly fraction?: number;
  readonly objects?: number;
  readonly beforeTrailer?: true;
}

/**
 * How a truncated response ends: `fin` closes the connection, `rst` resets it, and `stall` keeps it open but sends no
 * more bytes. `end` completes the HTTP response, with a truncated payload.
 */
export type Ending = 'fin' | 'rst' | 'stall' | 'end';

export interface Cut {
  readonly at?: CutPoint;
  readonly how?: Ending;
}

interface CutKeys extends Omit<CutPoint, 'beforeTrailer'> {
  readonly trailer?: '1';
  readonly how?: Ending;
}

const HOW = choice(['fin', 'rst', 'stall', 'end']);
const STAGES = ['accept', 'headers', 'body', 'response.head', 'response.body', ...STAGE_SETS.git] as const;

export const cut: Kind<Cut, CutKeys> = {
  about: 'truncates the transfer at this point and closes the connection',
  stages: STAGES,
  defaults: DEFAULTS.sent,
  keys: {
    bytes: { about: 'Number of bytes of the body or pack that are sent', ...COUNT },
    fraction: { about: 'Fraction of the body or pack that is sent', ...FRACTION },
    objects: { about: 'Number of complete objects of the pack that are sent', ...COUNT },
    trailer: {
      about: '1: omits only the end, which is the checksum of a pack or the last flush-pkt',
      ...choice(['1']),
    },
    how: {
      about:
        'fin: closes the connection, rst: resets it, stall: keeps it open, end: completes the HTTP response (default: fin)',
      ...HOW,
    },
  },
  oneOf: ['bytes', 'fraction', 'objects', 'trailer'],
  ofKeys: ({ how, trailer, ...offset }) => {
    const at: CutPoint = { ...offset, ...(trailer && { beforeTrailer: true }) };
    return { ...(Object.keys(at).length > 0 && { at }), ...(how && { how }) };
  },
  toKeys: ({ at: { beforeTrailer, ...offset } = {}, how }) => ({
    ...offset,
    ...(beforeTrailer && { trailer: '1' }),
    ...(how && { how }),
  }),
  schema: () =>
    strict({
      at: strict({
        bytes: COUNT.schema(),
        fraction: FRACTION.schema(),
        objects: COUNT.schema(),
        beforeTrailer: z.literal(true),
      })
        .partial()
        .refine(
          (value) => Object.keys(value).length === 1,
          'Must have one of bytes, fraction, objects and beforeTrailer',
        )
        .optional(),
      how: HOW.schema().optional(),
    }),
  endsStage: () => true,
  stagesOf: ({ at }) => {
    if (at?.objects !== undefined) return ['git.pack'];
    return at?.beforeTrailer ? STAGE_SETS.trailed : STAGES;
  },
};
