import type { FaultKinds } from '@emulator/admin/faults.js';
import type { OperationRecord } from '@emulator/admin/operations.js';

/*
 * Draft of a fault, which is a rule that makes matching requests fail. A draft consists of the values that the user has
 * entered in the form for a new fault. This file also computes the options that the form offers.
 */

/**
 * Kind of fault that the emulator offers. It is named by an error code such as `rate_limited`, or by a word such as
 * `lost` (the response is not sent).
 */
export type FaultKind = FaultKinds['items'][number];

export interface ConditionValue {
  /**
   * Key of the condition in the text notation of faults. For example, `match.repo` is the condition on the repository.
   */
  readonly key: string;
  /**
   * Name of the request header, query parameter, body member or token claim that is compared with `value`. Empty if the
   * key needs no name, for example `match.repo`.
   */
  readonly name: string;
  readonly value: string;
  /** Comparison of a value with a name, as a sign before `=` in the text notation. Default: glob. */
  readonly how?: Comparison;
}

/** Signs of the text notation that select how a value of a request is compared, with their meanings. */
export const COMPARISONS = [
  ['', 'equals (wildcards * and ?)'],
  ['*', 'contains'],
  ['~', 'matches the regular expression'],
] as const;

export type Comparison = (typeof COMPARISONS)[number][0];

export interface Draft {
  /** Ids of the API operations whose requests fail, such as `readFile`. An empty list stands for all operations. */
  readonly operations: readonly string[];
  readonly name: string;
  readonly keys: Readonly<Record<string, string>>;
  readonly times: string;
  readonly skip: string;
  /**
   * Name of the stage at which the fault fires; empty for the default stage. A stage is a point in the processing of a
   * request.
   */
  readonly stage: string;
  readonly conditions: readonly ConditionValue[];
  /**
   * Values of the other members of the fault's text notation, by key. These are neither conditions nor keys of the kind
   * of fault.
   */
  readonly further: Readonly<Record<string, string>>;
  /** True if the form also offers error codes that the specification does not list for the chosen operations. */
  readonly hasOtherCodes: boolean;
}

/** Keys of the conditions for which the form always shows a field. The user can add fields for further conditions. */
export const ALWAYS = ['match.repo', 'match.sub'];

export const EMPTY: Draft = {
  operations: [],
  name: 'rate_limited',
  keys: { 'retry-after': '2' },
  times: '1',
  skip: '',
  stage: '',
  conditions: [],
  further: {},
  hasOtherCodes: false,
};

/**
 * Returns the draft that the parameters in the page's URL describe. A link can thus open the form with values filled
 * in, such as `#/faults?operation=readFile&repository=team/app&subject=ada`.
 */
export function draftAt({ operation, fault, repository, subject, ref }: Readonly<Record<string, string>>): Draft {
  return {
    ...EMPTY,
    ...(fault && { name: fault, keys: {} }),
    operations: operation ? operation.split(',') : [],
    conditions: conditionsOf({ 'match.repo': repository, 'match.sub': subject, 'match.ref': ref }),
  };
}

/**
 * Converts a table of values, such as `{ 'match.repo': 'team/app' }`, to a list of conditions. Empty and absent values
 * are omitted, because an empty field stands for no condition.
 */
export function conditionsOf(values: Readonly<Record<string, string | undefined>>): Draft['conditions'] {
  return Object.entries(values).flatMap(([key, value]) => (value ? [{ key, name: '', value }] : []));
}

/**
 * Formats a draft as one line in the text notation of faults, which the emulator parses. For example,
 * `rate_limited*1;retry-after=2` has the name `rate_limited`, fires once (`*1`) and sets the key `retry-after`.
 */
export function specOf({ operations, name, keys, times, skip, stage, conditions, further }: Draft): string {
  const pairs = [
    ...Object.entries(keys),
    ['match.op', operations.join(',')] as const,
    ...conditions.map((one) => [keyOf(one), one.value] as const),
    ...Object.entries(further),
  ];
  const marked = (mark: string, value: string) => (value.trim() === '' ? '' : mark + value.trim());
  return [
    name,
    marked('*', times),
    marked('+', skip),
    marked('@', stage),
    ...pairs.flatMap(([key, value]) => (value === '' ? [] : [`;${key}=${encode(value)}`])),
  ].join('');
}

function keyOf({ key, name, how = '' }: ConditionValue): string {
  // Encodes `*` and `~` too, because they are signs at the end of a name.
  const encoded = encode(name).replaceAll('*', '%2A').replaceAll('~', '%7E');
  return name === '' ? key : `${key}.${encoded}${how}`;
}

function encode(value: string): string {
  return encodeURIComponent(value.replaceAll(/\p{Surrogate}/gu, '\ufffd'));
}

/**
 * Computes the kinds of fault, keys, stages and conditions that the form offers. They depend on the values that the
 * user has already chosen. For example, the chosen operations limit the kinds of fault, and the kind limits the stages.
 */
export function offersFor(draft: Draft, kinds: FaultKinds, operations: readonly OperationRecord[]) {
  const chosen = operations.filter(({ id }) => draft.operations.includes(id));
  const offered = offeredKinds(kinds, chosen);
  const names = [...offered.codes, ...(draft.hasOtherCodes ? offered.others : []), ...offered.kinds];
  const kind = names.find(({ name }) => name === draft.name);
  const possible = kind ? offeredStages(kind, draft.keys, chosen) : [];
  const members = kinds.members.filter(
    (member) => chosen.length === 0 || chosen.some(({ id }) => member.operations?.includes(id) ?? true),
  );
  return {
    chosen,
    offered,
    kind,
    keys: kind ? kind.keys.filter((key) => hasRequired(key, draft) && isPossible(kind, key, chosen)) : [],
    stages: Object.keys(kinds.stages).filter((stage) => possible.includes(stage)),
    /**
     * Stages at which the fault fires if the user chooses none. There can be several, because each operation has its
     * own default. Empty if the user must choose a stage.
     */
    defaults: kind && !isLostPush(kind, draft.operations) ? defaultStages(kind, draft.keys, chosen, operations) : [],
    conditions: members.filter(({ key }) => key.startsWith('match.') && key !== 'match.op'),
    further: members.filter(({ key }) => !key.startsWith('match.')),
  };
}

export type Offers = ReturnType<typeof offersFor>;

/** Returns false if the key requires another key that is not given. */
function hasRequired({ requires }: FaultKind['keys'][number], { keys }: Draft): boolean {
  return requires === undefined || (keys[requires] ?? '') !== '';
}

/**
 * Returns true if a fault of this kind with the key `member` can fire in at least one of the chosen operations. This
 * can depend on the value of the key. If the key has a fixed list of values, all of them are tested, otherwise its
 * example.
 */
function isPossible(kind: FaultKind, member: FaultKind['keys'][number], chosen: readonly OperationRecord[]): boolean {
  const { key, type, example, values = [] } = member;
  const candidates = type === 'choice' ? values : [example];
  return candidates.some((one) => offeredStages(kind, { [key]: one }, chosen).length > 0);
}

/**
 * Removes values that the form does not offer from a draft, such as the keys of another kind of fault. If the chosen
 * operations do not support the kind of fault, another kind replaces it. The form calls this function after every
 * change by the user.
 */
export function settle(draft: Draft, kinds: FaultKinds, operations: readonly OperationRecord[]): Draft {
  const { offered, kind, ...offers } = offersFor(draft, kinds, operations);
  if (!kind) {
    const [first] = [...offered.codes, ...offered.kinds];
    const name = offered.codes.some((code) => code.name === EMPTY.name) ? EMPTY.name : first!.name;
    return settle({ ...draft, name, keys: {}, stage: '' }, kinds, operations);
  }
  const has = (list: readonly { readonly key: string }[], wanted: string) => list.some(({ key }) => key === wanted);
  const settled = {
    ...draft,
    operations: offers.chosen.map(({ id }) => id),
    keys: Object.fromEntries(Object.entries(draft.keys).filter(([key]) => has(offers.keys, key))),
    conditions: [
      ...ALWAYS.filter((key) => !has(draft.conditions, key)).map((key) => ({ key, name: '', value: '' })),
      ...draft.conditions,
    ].filter(({ key }) => has(offers.conditions, key)),
  };
  const { stages, defaults } = offersFor(settled, kinds, operations);
  if (stages.includes(draft.stage) || (draft.stage === '' && defaults.length > 0)) return settled;
  if (isLostPush(kind, draft.operations)) {
    const times = draft.times === EMPTY.times ? `${LOST_PUSH.times}` : draft.times;
    return { ...settled, stage: LOST_PUSH.stage, times };
  }
  return { ...settled, stage: defaults.length > 0 ? '' : (stages[0] ?? '') };
}

/*
 * Returns the kinds of fault that the form offers for the chosen operations. If no operation is chosen, the kinds for
 * all operations are returned.
 */

function offeredKinds({ items }: FaultKinds, chosen: readonly OperationRecord[]) {
  const isListed = ({ name }: FaultKind) => chosen.length === 0 || chosen.some(({ codes }) => codes.includes(name));
  const codes = items.filter(({ status }) => status !== undefined);
  return {
    /** Error codes that the specification lists for at least one of the chosen operations. */
    codes: codes.filter(isListed),
    /**
     * Error codes that the specification does not list for the chosen operations. Codes that only the listing
     * operations can return are omitted.
     */
    others: codes.filter((kind) => !isListed(kind) && !kind.is_of_few),
    kinds: items.filter((kind) => kind.status === undefined && offeredStages(kind, {}, chosen).length > 0),
  };
}

/**
 * Returns the stages at which a fault of this kind can fire in at least one of the chosen operations. A stage is a
 * point in the processing of a request. `values` are the values of the fault's keys, some of which exclude stages.
 */
export function offeredStages(
  { stages, keys }: FaultKind,
  values: Readonly<Record<string, string>>,
  chosen: readonly OperationRecord[],
): readonly string[] {
  const narrowed = keys.flatMap(({ key, narrows }) => {
    const value = values[key] ?? '';
    return value === '' ? [] : narrows.filter((one) => one.value === undefined || one.value === value);
  });
  return stages.filter((stage) => {
    // The stage `accept` is not offered if operations are chosen. At that stage, the request has not been read, so its
    // operation is unknown.
    const isOfThem =
      chosen.length === 0 || (stage !== 'accept' && chosen.some((operation) => operation.stages.includes(stage)));
    return isOfThem && narrowed.every((one) => one.stages.includes(stage));
  });
}

/**
 * Returns the default stages of a fault in the chosen operations. If no operation is chosen, all operations count. The
 * result is empty if no operation has a default, so that the user must choose a stage.
 */
function defaultStages(
  kind: FaultKind,
  values: Readonly<Record<string, string>>,
  chosen: readonly OperationRecord[],
  all: readonly OperationRecord[],
): readonly string[] {
  const offered = offeredStages(kind, values, chosen);
  const found = (chosen.length > 0 ? chosen : all).flatMap(({ id }) => {
    const stage = kind.defaults[id] ?? (isOfGit(id) ? undefined : kind.defaults.api);
    return stage !== undefined && offered.includes(stage) ? [stage] : [];
  });
  return [...new Set(found)];
}

/**
 * Stage and number of firings that the form presets for a fault `lost` (the response is not sent) on a push. With these
 * values, Git reports a lost response.
 *
 * libcurl sends a request again if the connection ends before the first byte of the response. The first request has
 * already moved the refs, so Git reports them as rejected after the second request. The fault therefore fires twice, so
 * that the second response is lost too. This works only at the stage `git.report`.
 */
const LOST_PUSH = { stage: 'git.report', times: 2 } as const;

/** Returns true if the fault is `lost` (the response is not sent) and push is the only chosen operation. */
function isLostPush({ name }: FaultKind, operations: readonly string[]): boolean {
  return name === 'lost' && operations.length > 0 && operations.every((id) => id === 'gitReceivePack');
}

/**
 * Returns true for the id of an operation of the Git protocol. These operations have stages that API operations lack.
 * The default stage of API operations therefore does not apply to them.
 */
function isOfGit(operation: string): boolean {
  return ['gitInfoRefs', 'gitUploadPack', 'gitReceivePack'].includes(operation);
}
