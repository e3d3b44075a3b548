import type { z } from 'zod';
import { type Key, strict } from '../key.js';
import type { Stage } from '../stage.js';

/**
 * One kind of fault. `Value` is its value in JSON, where the name of the kind is the member of an action. `Keys` are the
 * values of its keys in the text form.
 */
export interface Kind<Value = unknown, Keys = Value> {
  readonly about: string;
  /** Stages at which the service can carry it out. */
  readonly stages: readonly Stage[];
  /** Stage unless one is given: of Git's operations by id, of the others under `api`. */
  readonly defaults: Readonly<Partial<Record<Dialect, Stage>>>;
  readonly keys: Readonly<Record<string, Key>>;
  /** Required keys. */
  readonly needs?: readonly string[];
  /** Keys of which at most one may be given. */
  readonly oneOf?: readonly string[];
  /** Name in JSON until version 0.1, which is still read. */
  readonly formerly?: string;
  /** True if it replaces the response by one with another status. */
  readonly isAnswer?: boolean;
  /** Schema of the value; without it, an object of the keys. */
  schema?(): z.ZodType;
  /** Returns the value for the keys of a text; without it, the keys are the value. */
  ofKeys?(keys: Keys): Value;
  /** Returns undefined if no keys say the value; without it, the value is the keys. */
  toKeys?(value: Value): Keys | undefined;
  /** Returns true if no other fault can happen at the stage after it. */
  endsStage(value: Value): boolean;
  /** Stages at which it can be carried out with the value; without it, `stages`. */
  stagesOf?(value: Value): readonly Stage[];
  /** Returns true if it concerns none of the refs of a push. */
  isForOtherRefs?(value: Value, pushed: readonly string[]): boolean;
}

/** What the responses of an operation are made of: problems and results, or a conversation of Git. */
export type Dialect = 'api' | 'gitInfoRefs' | 'gitUploadPack' | 'gitReceivePack';

const GIT: readonly Stage[] = ['git.advertise', 'git.pack', 'git.receive', 'git.report'];
const ANSWER: readonly Stage[] = ['headers', 'auth', 'before', 'body', 'after', 'response.head', ...GIT];
const RATE: readonly Stage[] = [...ANSWER, 'response.body'];
const DELAY: readonly Stage[] = ['accept', ...RATE];

export const STAGE_SETS = {
  git: GIT,
  answer: ANSWER,
  rate: RATE,
  delay: DELAY,
  /** A trailer is sent: the checksum of a pack, the flush of packets. */
  trailed: ['git.advertise', 'git.pack', 'git.report'],
  /** A side-band is open. */
  sideBanded: ['git.pack', 'git.report'],
} as const satisfies Record<string, readonly Stage[]>;

/** Default stages of several kinds. */
export const DEFAULTS = {
  before: { api: 'before', gitInfoRefs: 'before', gitUploadPack: 'before', gitReceivePack: 'before' },
  /** The pack of a fetch, the body of every other response. */
  sent: { api: 'response.body', gitUploadPack: 'git.pack' },
  sideBand: { gitUploadPack: 'git.pack', gitReceivePack: 'git.report' },
} as const satisfies Record<string, Kind['defaults']>;

/** Traits of kinds that replace the response. */
export const ANSWERING = {
  stages: ANSWER,
  defaults: DEFAULTS.before,
  isAnswer: true,
  endsStage: () => true,
} as const;

/** `retry-after` in the text is `retryAfter` in JSON. */
export function memberOf(key: string): string {
  return key.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** The schema of a value whose members are the keys. */
export function schemaOf({ keys, needs = [], schema }: Kind): z.ZodType {
  if (schema) return schema();
  const members = Object.entries(keys).map(([key, row]) => {
    const member = row.schema();
    return [memberOf(key), needs.includes(key) ? member : member.optional()] as const;
  });
  return strict(Object.fromEntries(members));
}
