import { z } from 'zod';
import { LINE, pattern, strict } from '../key.js';
import type { Kind } from './kind.js';

/**
 * Refusals in the report of a push (`report-status` of the Git protocol). `unpack` is the reason for refusing the pack.
 * `refs` maps refused refs to reasons; the name `*` means all refs.
 */
export interface Ng {
  readonly unpack?: string;
  readonly refs?: Readonly<Record<string, string>>;
}

interface NgKeys {
  readonly ref: string;
  readonly reason?: string;
}

const REF = pattern(
  'the full name of a ref, such as refs/heads/main',
  /^refs\/[^\p{Cc} ~^:?*[\\]{1,250}$/u,
  'refs/heads/main',
);

export const ng: Kind<Ng, NgKeys> = {
  about: 'reports to the Git client that the push of the ref was refused',
  formerly: 'report',
  stages: ['git.report'],
  defaults: { gitReceivePack: 'git.report' },
  keys: { ref: { about: 'Refused ref', ...REF }, reason: { about: 'Reason that the Git client shows', ...LINE } },
  needs: ['ref'],
  ofKeys: ({ ref, reason = 'injected fault' }) => ({ refs: { [ref]: reason } }),
  toKeys: ({ unpack, refs = {} }) => {
    const [[ref, reason] = [], ...others] = Object.entries(refs);
    const isOne = unpack === undefined && others.length === 0 && ref !== undefined && REF.read(ref) !== undefined;
    return isOne ? { ref, reason: reason! } : undefined;
  },
  schema: () =>
    strict({ unpack: LINE.schema(), refs: z.record(LINE.schema(), LINE.schema()) })
      .partial()
      .refine((value) => Object.keys(value).length > 0, 'Must have at least one of unpack and refs'),
  endsStage: () => false,
  isForOtherRefs: ({ unpack, refs = {} }, pushed) =>
    unpack === undefined && Object.keys(refs).every((ref) => ref !== '*' && !pushed.includes(ref)),
};
