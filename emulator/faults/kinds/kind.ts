import type { z } from 'zod';
import { type Key, strict } from '../key.js';
import type { Stage } from '../stage.js';

/**
 * Kind of fault. `Value` is its value in JSON, where the kind's name is the member of an action. `Keys` are the values
 * of its keys in the text form.
 */
export interface Kind<Value = unknown, Keys = Value> {
  readonly about: string;
  /** Stages at which the kind can be carried out. */
  readonly stages: readonly Stage[];
  /** Default stage by operation: Git operations by id, all others as `api`. */
  readonly defaults: Readonly<Partial<Record<Dialect, Stage>>>;
  readonly keys: Readonly<Record<string, Key>>;
  /** Required keys. */
  readonly needs?: readonly string[];
  /** Keys of which at most one may be given. */
  readonly oneOf?: readonly string[];
  /** Name in JSON until version 0.1. Still accepted. */
  readonly formerly?: string;
  /** True if the kind replaces the response by one with another status. */
  readonly replacesResponse?: boolean;
  /** Returns the schema of the JSON value. Without this function, the value is an object whose members are the keys. */
  schema?(): z.ZodType;
  /** Converts the keys of the text form to the JSON value. Without this function, both are the same object. */
  ofKeys?(keys: Keys): Value;
  /**
   * Converts a JSON value to the keys of the text form. Returns undefined if the text form cannot express it. Without
   * this function, both are the same object.
   */
  toKeys?(value: Value): Keys | undefined;
  /** Returns true if no other fault can fire at the stage after this one. */
  endsStage(value: Value): boolean;
  /** Returns the stages at which a fault with this value can be carried out. Without this function, `stages` applies. */
  stagesOf?(value: Value): readonly Stage[];
  /** Returns true if the value names refs, and the push updates none of them. The fault then does not fire. */
  isForOtherRefs?(value: Value, pushed: readonly string[]): boolean;
}

/** Form of an operation's responses: JSON of the API, or one of the Git protocols. */
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
  /** Stages whose data ends with a trailer: the checksum of a pack, or the flush-pkt. */
  trailed: ['git.advertise', 'git.pack', 'git.report'],
  /** Stages at which a side-band is open. */
  sideBanded: ['git.pack', 'git.report'],
} as const satisfies Record<string, readonly Stage[]>;

/** Default stages of several kinds. */
export const DEFAULTS = {
  before: { api: 'before', gitInfoRefs: 'before', gitUploadPack: 'before', gitReceivePack: 'before' },
  /** The pack of a fetch, and the body of all other responses. */
  sent: { api: 'response.body', gitUploadPack: 'git.pack' },
  sideBand: { gitUploadPack: 'git.pack', gitReceivePack: 'git.report' },
} as const satisfies Record<string, Kind['defaults']>;

/** Members that all kinds have which replace the response. */
export const ANSWERING = {
  stages: ANSWER,
  defaults: DEFAULTS.before,
  replacesResponse: true,
  endsStage: () => true,
} as const;

/** Returns the JSON member for a key of the text form: `retry-after` is `retryAfter`. */
export function memberOf(key: string): string {
  return key.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the schema of a value. Its members are the keys. */
export function schemaOf({ keys, needs = [], schema }: Kind): z.ZodType {
  if (schema) return schema();
  const members = Object.entries(keys).map(([key, row]) => {
    const member = row.schema();
    return [memberOf(key), needs.includes(key) ? member : member.optional()] as const;
  });
  return strict(Object.fromEntries(members));
}
