import { z } from 'zod';
import { choice, integer, strict } from '../key.js';
import type { Kind } from './kind.js';

/** How the connection ends in place of the response, or the status of the response that replaces it. */
export type Lost = 'fin' | 'rst' | { readonly status: number };

interface LostKeys {
  readonly how?: 'fin' | 'rst';
  readonly status?: number;
}

const HOW = choice(['fin', 'rst']);
const STATUS = integer(400, 599);

export const lost: Kind<Lost, LostKeys> = {
  about: 'the response is lost after the operation has taken effect',
  formerly: 'lostResponse',
  stages: ['after', 'git.report'],
  // Has no default for an advertisement, because the push would then never take effect.
  defaults: { api: 'after', gitUploadPack: 'after', gitReceivePack: 'after' },
  keys: { how: HOW, status: STATUS },
  oneOf: ['how', 'status'],
  ofKeys: ({ how = 'fin', status }) => (status === undefined ? how : { status }),
  toKeys: (value) => (typeof value === 'string' ? { how: value } : value),
  schema: () =>
    z.union([HOW.schema(), strict({ status: STATUS.schema() })], {
      error: 'Must be fin, rst, or an object with a status',
    }),
  endsStage: () => true,
};
