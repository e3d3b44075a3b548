import type { z } from 'zod';
import { type NamedKey, strict } from '../key.js';
import type { Stage } from '../stage.js';

/**
 * Kind of fault, such as `cut` or `latency`. `Value` is the type of its value in JSON, as in `{"cut": Value}`. `Keys`
 * is the type of its keys in the text form, as in `cut;key=value`.
 */
export interface Kind<Value = unknown, Keys = Value> {
  readonly about: string;
  /** Stages of a request at which a fault of this kind can act. */
  readonly stages: readonly Stage[];
  /**
   * Default stages for faults that name no stage: by operation id for Git operations, and under `api` for all others.
   * For an operation without an entry, the fault must name a stage.
   */
  readonly defaults: Readonly<Partial<Record<Dialect, Stage>>>;
  readonly keys: Readonly<Record<string, NamedKey>>;
  /** Keys that are required in the text form of the fault. */
  readonly needs?: readonly string[];
  /** Keys that exclude each other: at most one of them may be given. */
  readonly oneOf?: readonly string[];
  /** Keys that are allowed only together with another key: `{ dist: 'jitter' }` means that `dist` requires `jitter`. */
  readonly requires?: Readonly<Record<string, string>>;
  /** Name of the kind in the JSON of version 0.1. Clients may still use it. */
  readonly formerly?: string;
  /** True if a fault of this kind replaces the whole response, including its status. */
  readonly replacesResponse?: boolean;
  /** Position at which a fault of this kind is always carried out. Absent if the stage of the fault decides. */
  readonly position?: 'handshake';
  /** Returns the schema of the value in JSON. If absent, the value is an object with one member per key. */
  schema?(): z.ZodType;
  /** Converts the keys of the text form to the value in JSON. If absent, the object of keys is the value. */
  ofKeys?(keys: Keys): Value;
  /**
   * Converts the value in JSON to the keys of the text form. Returns undefined if the text form cannot express the
   * value. If this function is absent, the value is the object of keys.
   */
  toKeys?(value: Value): Keys | undefined;
  /**
   * Replaces the random parts of a value by values that are drawn with `random`, which returns numbers from 0
   * (inclusive) to 1 (exclusive). Called each time that the fault fires.
   */
  draw?(value: Value, random: () => number): Value;
  /** Returns true if a fault with this value prevents all further faults at the same stage. */
  endsStage(value: Value): boolean;
  /**
   * Returns the stages at which a fault with this value can be carried out. If absent, all of `stages` are possible.
   */
  stagesOf?(value: Value): readonly Stage[];
  /**
   * Returns true if the value names refs, but none of `pushed` (the refs that a push updates). The fault then does not
   * fire for the push.
   */
  isForOtherRefs?(value: Value, pushed: readonly string[]): boolean;
}

/**
 * Response format of an operation: `api` for JSON, or the id of a Git operation. Each Git operation has a format of its
 * own.
 */
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
  /** Stages whose response data ends with a trailer, which is the checksum of a pack or a flush-pkt. */
  trailed: ['git.advertise', 'git.pack', 'git.report'],
  /** Stages at which the response uses side-bands, so that progress messages can be sent next to the data. */
  sideBanded: ['git.pack', 'git.report'],
} as const satisfies Record<string, readonly Stage[]>;

/** Default stages that several kinds of faults share. */
export const DEFAULTS = {
  before: { api: 'before', gitInfoRefs: 'before', gitUploadPack: 'before', gitReceivePack: 'before' },
  /** Stage at which the response data is sent: the pack of a fetch, or the body of an API response. */
  sent: { api: 'response.body', gitUploadPack: 'git.pack' },
  accept: { api: 'accept', gitInfoRefs: 'accept', gitUploadPack: 'accept', gitReceivePack: 'accept' },
  sideBand: { gitUploadPack: 'git.pack', gitReceivePack: 'git.report' },
} as const satisfies Record<string, Kind['defaults']>;

/** Members that are common to all kinds of faults that replace the response. */
export const ANSWERING = {
  stages: ANSWER,
  defaults: DEFAULTS.before,
  replacesResponse: true,
  endsStage: () => true,
} as const;

/** Returns the JSON member for a key of the text form: `retry-after` → `retryAfter`. */
export function memberOf(key: string): string {
  return key.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Returns the schema of the JSON value of a kind of fault. By default, the value has one member per key of the text
 * form.
 */
export function schemaOf({ keys, needs = [], requires = {}, schema }: Kind): z.ZodType {
  if (schema) return schema();
  const members = Object.entries(keys).map(([key, row]) => {
    const member = row.schema();
    return [memberOf(key), needs.includes(key) ? member : member.optional()] as const;
  });
  const value: z.ZodType = strict(Object.fromEntries(members));
  return Object.entries(requires).reduce(
    (schema, [key, other]) => schema.refine((one) => hasBoth(one as object, key, other), `${key} requires ${other}`),
    value,
  );
}

/** Returns true if the value has the member `other`, or lacks the member `key`, which requires it. */
function hasBoth(value: object, key: string, other: string): boolean {
  return !Object.hasOwn(value, memberOf(key)) || Object.hasOwn(value, memberOf(other));
}
