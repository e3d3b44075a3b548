import { z } from 'zod';
import { choice, integer, strict } from '../key.js';
import type { Kind } from './kind.js';

/**
 * Replacement for a response that is lost after the operation took effect. `fin` closes the connection, `rst` resets
 * it, and an object stands for a response with this status.
 */
export type Lost = 'fin' | 'rst' | { readonly status: number };

interface LostKeys {
  readonly how?: 'fin' | 'rst';
  readonly status?: number;
}

const HOW = choice(['fin', 'rst']);
const STATUS = integer(400, 599);

export const lost: Kind<Lost, LostKeys> = {
  about: 'closes the connection without a response, after the operation has taken effect',
  formerly: 'lostResponse',
  stages: ['after', 'git.report'],
  // Omits `gitInfoRefs`, the ref advertisement before a push. If its response were lost, the push would end before it
  // had any effect.
  defaults: { api: 'after', gitUploadPack: 'after', gitReceivePack: 'after' },
  keys: {
    how: { about: 'fin: closes the connection, rst: resets it (default: fin)', ...HOW },
    status: { about: 'Sends a response with this HTTP status instead', ...STATUS },
  },
  oneOf: ['how', 'status'],
  ofKeys: ({ how = 'fin', status }) => (status === undefined ? how : { status }),
  toKeys: (value) => (typeof value === 'string' ? { how: value } : value),
  schema: () =>
    z.union([HOW.schema(), strict({ status: STATUS.schema() })], {
      error: 'Must be fin, rst, or an object with a status',
    }),
  endsStage: () => true,
};
