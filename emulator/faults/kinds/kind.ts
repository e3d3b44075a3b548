import type { z } from 'zod';
import { type Key, strict } from '../key.js';
import type { Stage } from '../stage.js';

/**
 * Kind of fault, such as `cut` or `latency`. `Value`: type of its value in JSON, `{"cut": Value}`. `Keys`: type of its
 * keys in the text form, `cut;key=value`.
 */
export interface Kind<Value = unknown, Keys = Value> {
  readonly about: string;
  /** Stages of a request at which a fault of this kind can be carried out. */
  readonly stages: readonly Stage[];
  /**
   * Stage if the fault names none, by operation: Git operations by id, all others as `api`. Without an entry, the fault
   * must name a stage for the operation.
   */
  readonly defaults: Readonly<Partial<Record<Dialect, Stage>>>;
  readonly keys: Readonly<Record<string, Key>>;
  /** Keys that the text form of the fault must have. */
  readonly needs?: readonly string[];
  /** Keys of which at most one may be given. */
  readonly oneOf?: readonly string[];
  /** Name of the kind in JSON until version 0.1. Still accepted. */
  readonly formerly?: string;
  /** True if a fault of this kind replaces the whole response by one with another status. */
  readonly replacesResponse?: boolean;
  /**
   * Returns the schema of the value in JSON. Without this function, the value is an object whose members are the keys.
   */
  schema?(): z.ZodType;
  /** Converts the keys of the text form to the value in JSON. Without this function, both are the same object. */
  ofKeys?(keys: Keys): Value;
  /**
   * Converts the value in JSON to the keys of the text form. Returns undefined if the text form cannot express the
   * value. Without this function, both are the same object.
   */
  toKeys?(value: Value): Keys | undefined;
  /** Returns true if no other fault can act at the same stage after a fault with this value. */
  endsStage(value: Value): boolean;
  /**
   * Returns the stages at which a fault with this value can be carried out. Without this function, they are `stages`.
   */
  stagesOf?(value: Value): readonly Stage[];
  /**
   * Returns true if the value names refs and none of them is in `pushed`, the refs that a push updates. The fault then
   * does not fire for the push.
   */
  isForOtherRefs?(value: Value, pushed: readonly string[]): boolean;
}

/**
 * Form of an operation's responses: `api` for JSON, or the id of a Git operation, because each of these has its own
 * protocol.
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
  /** Stages whose response data ends with a trailer: the checksum of a pack, or a flush-pkt. */
  trailed: ['git.advertise', 'git.pack', 'git.report'],
  /** Stages at which the response has a side-band, so that progress messages can be sent beside the data. */
  sideBanded: ['git.pack', 'git.report'],
} as const satisfies Record<string, readonly Stage[]>;

/** Default stages that several kinds of faults share. */
export const DEFAULTS = {
  before: { api: 'before', gitInfoRefs: 'before', gitUploadPack: 'before', gitReceivePack: 'before' },
  /** Stage while the data of the response is sent: the pack of a fetch, and the body of API responses. */
  sent: { api: 'response.body', gitUploadPack: 'git.pack' },
  sideBand: { gitUploadPack: 'git.pack', gitReceivePack: 'git.report' },
} as const satisfies Record<string, Kind['defaults']>;

/** Members that are common to all kinds of faults that replace the response. */
export const ANSWERING = {
  stages: ANSWER,
  defaults: DEFAULTS.before,
  replacesResponse: true,
  endsStage: () => true,
} as const;

/** Returns the name of the JSON member for a key of the text form: `retryAfter` for `retry-after`. */
export function memberOf(key: string): string {
  return key.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Returns the schema of the value that a kind of fault has in JSON. By default, its members are the keys of the text
 * form.
 */
export function schemaOf({ keys, needs = [], schema }: Kind): z.ZodType {
  if (schema) return schema();
  const members = Object.entries(keys).map(([key, row]) => {
    const member = row.schema();
    return [memberOf(key), needs.includes(key) ? member : member.optional()] as const;
  });
  return strict(Object.fromEntries(members));
}
