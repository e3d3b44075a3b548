import { defaultStages, isLostPush, LOST_PUSH, type OfferedKinds, offeredKinds, offeredStages } from './offers.js';
import type { FaultKey, FaultKind, FaultKinds, Members, Operation } from './records.js';
import { writeSpec } from './spec-text.js';

/* A fault while it is being made: the texts of the fields, and what they offer. */

export interface ConditionValue {
  /** Of a row of `CONDITIONS`. */
  readonly id: string;
  /** Of a header, a parameter, a member or a claim. */
  readonly name: string;
  readonly value: string;
}

export interface Draft {
  /** Ids; none: any. */
  readonly operations: readonly string[];
  readonly name: string;
  readonly keys: Readonly<Record<string, string>>;
  readonly times: string;
  readonly skip: string;
  /** Empty: where it belongs. */
  readonly stage: string;
  readonly conditions: readonly ConditionValue[];
  /** By the id of a row of `FURTHER`. */
  readonly further: Readonly<Record<string, string>>;
  /** Whether codes are offered that the specification does not list for the operations. */
  readonly hasOtherCodes: boolean;
}

export interface Condition {
  readonly id: string;
  readonly label: string;
  /** The member of `match`; the name comes behind it where there is one. */
  readonly path: readonly string[];
  readonly hint: string;
  readonly values?: readonly string[];
  /** What its name is of. */
  readonly nameOf?: string;
  readonly isList?: true;
  readonly isNumber?: true;
  /** Operations that can have it. */
  readonly isFor?: (operation: Operation) => boolean;
}

const isGit = ({ stages }: Operation) => stages.some((stage) => stage.startsWith('git.'));
const GLOB = '* stands for any rest';

/** What a fault can ask of a request beside its operation. */
export const CONDITIONS: readonly Condition[] = [
  { id: 'repository', label: 'Repository', path: ['repo'], hint: `team/app; ${GLOB}` },
  { id: 'subject', label: 'Subject', path: ['token', 'sub'], hint: `sub of the token; ${GLOB}` },
  { id: 'ref', label: 'Ref', path: ['git', 'ref'], hint: `refs/heads/main; ${GLOB}`, isFor: isGit },
  { id: 'organization', label: 'Organization', path: ['org'], hint: GLOB },
  { id: 'method', label: 'Method', path: ['http', 'method'], hint: 'GET' },
  { id: 'header', label: 'Header', path: ['http', 'header'], hint: GLOB, nameOf: 'Header name' },
  { id: 'query', label: 'Query parameter', path: ['http', 'query'], hint: GLOB, nameOf: 'Parameter' },
  {
    id: 'body',
    label: 'Member of the body',
    path: ['http', 'body'],
    hint: GLOB,
    nameOf: 'JSON pointer, such as /name',
    isFor: ({ stages }) => stages.includes('body') && !stages.some((stage) => stage.startsWith('git.')),
  },
  { id: 'has', label: 'Scopes of the token', path: ['token', 'scopes', 'has'], hint: 'between commas', isList: true },
  { id: 'lacks', label: 'Scopes it lacks', path: ['token', 'scopes', 'lacks'], hint: 'between commas', isList: true },
  { id: 'claim', label: 'Claim of the token', path: ['token', 'claims'], hint: GLOB, nameOf: 'Claim' },
  { id: 'kid', label: 'Key', path: ['token', 'kid'], hint: 'id of the key that signed the token' },
  {
    id: 'alg',
    label: 'Algorithm',
    path: ['token', 'alg'],
    hint: 'of the signature',
    values: ['ES256', 'ES384', 'ES512', 'RS256'],
  },
  {
    id: 'service',
    label: 'Git service',
    path: ['git', 'service'],
    hint: '',
    values: ['upload-pack', 'receive-pack'],
    isFor: isGit,
  },
  { id: 'phase', label: 'Git phase', path: ['git', 'phase'], hint: '', values: ['advertise', 'rpc'], isFor: isGit },
  {
    id: 'protocol',
    label: 'Git protocol',
    path: ['git', 'protocol'],
    hint: 'version',
    values: ['0', '1', '2'],
    isNumber: true,
    isFor: isGit,
  },
  {
    id: 'command',
    label: 'Git command',
    path: ['git', 'command'],
    hint: 'of protocol 2',
    values: ['ls-refs', 'fetch', 'object-info'],
    isFor: isGit,
  },
  { id: 'scenario', label: 'Scenario', path: ['scenario'], hint: 'that the client names' },
];

export interface FurtherMember {
  readonly id: string;
  readonly label: string;
  readonly path: readonly string[];
  readonly hint: string;
  readonly isNumber?: true;
  readonly isList?: true;
}

/** What a fault can say beside what it does, where and how many times. */
export const FURTHER: readonly FurtherMember[] = [
  { id: 'every', label: 'Every', path: ['when', 'every'], hint: '3: each third request that matches', isNumber: true },
  { id: 'chance', label: 'Chance', path: ['when', 'chance'], hint: '0.5; drawn from the seed', isNumber: true },
  {
    id: 'by',
    label: 'Counted for each',
    path: ['when', 'by'],
    hint: 'token, repo, op, connection; between commas',
    isList: true,
  },
  { id: 'from', label: 'From', path: ['when', 'from'], hint: '2026-01-01T00:00:00Z, or PT5S from now' },
  { id: 'until', label: 'Until', path: ['when', 'until'], hint: 'as From' },
  { id: 'ttl', label: 'Removed after', path: ['ttl'], hint: 'PT1H' },
  { id: 'note', label: 'Note', path: ['note'], hint: 'shown with it' },
  { id: 'fired', label: 'Has to fire', path: ['expect', 'fired'], hint: 'times, or verify tells', isNumber: true },
];

/** The conditions that a request of the operations can meet. */
export function offeredConditions(chosen: readonly Operation[]): readonly Condition[] {
  return CONDITIONS.filter(({ isFor }) => !isFor || chosen.length === 0 || chosen.some(isFor));
}

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

/** What a draft can be changed into. */
export interface Offers {
  readonly chosen: readonly Operation[];
  readonly offered: OfferedKinds;
  readonly kind: FaultKind | undefined;
  readonly keys: readonly FaultKey[];
  readonly stages: readonly string[];
  /** Where it happens unless a stage is given; none: one has to be. */
  readonly defaults: readonly string[];
  readonly conditions: readonly Condition[];
}

export function offersFor(draft: Draft, kinds: FaultKinds, operations: readonly Operation[]): Offers {
  const chosen = operations.filter(({ id }) => draft.operations.includes(id));
  const offered = offeredKinds(kinds, chosen);
  const names = [...offered.codes, ...(draft.hasOtherCodes ? offered.others : []), ...offered.kinds];
  const kind = names.find(({ name }) => name === draft.name);
  const possible = kind ? offeredStages(kind, draft.keys, chosen) : [];
  return {
    chosen,
    offered,
    kind,
    keys: kind ? kind.keys.filter((key) => isPossible(kind, key, key.example, chosen)) : [],
    stages: Object.keys(kinds.stages).filter((stage) => possible.includes(stage)),
    defaults: kind && !isLostPush(kind, draft.operations) ? defaultStages(kind, draft.keys, chosen, operations) : [],
    conditions: offeredConditions(chosen),
  };
}

/** Whether the fault can happen somewhere with this value of the key. */
function isPossible(
  kind: FaultKind,
  { key, type, values = [] }: FaultKey,
  value: string,
  chosen: readonly Operation[],
) {
  const candidates = type === 'choice' ? values : [value];
  return candidates.some((one) => offeredStages(kind, { [key]: one }, chosen).length > 0);
}

/** The draft without what is not offered: another kind in place of one that the operations do not have. */
export function settle(draft: Draft, kinds: FaultKinds, operations: readonly Operation[]): Draft {
  const { offered, kind } = offersFor(draft, kinds, operations);
  if (!kind) {
    const [first] = [...offered.codes, ...offered.kinds];
    const name = offered.codes.some((code) => code.name === EMPTY.name) ? EMPTY.name : first!.name;
    return settle({ ...draft, name, keys: {}, stage: '' }, kinds, operations);
  }
  const offers = offersFor(draft, kinds, operations);
  const keys = Object.fromEntries(
    Object.entries(draft.keys).filter(([key]) => offers.keys.some((one) => one.key === key)),
  );
  const conditions = draft.conditions.filter(({ id }) => offers.conditions.some((one) => one.id === id));
  const { stages, defaults } = offersFor({ ...draft, keys }, kinds, operations);
  if (isLostPush(kind, draft.operations) && !stages.includes(draft.stage)) {
    const times = draft.times === EMPTY.times ? `${LOST_PUSH.times}` : draft.times;
    return { ...draft, keys, conditions, stage: LOST_PUSH.stage, times };
  }
  const isStage = draft.stage === '' ? defaults.length > 0 : stages.includes(draft.stage);
  const stage = isStage ? draft.stage : defaults.length > 0 ? '' : (stages[0] ?? '');
  return { ...draft, keys, conditions, stage };
}

/** What `POST faults` takes, apart from `whenOfDraft`: words cannot stand beside a `when`. */
export function bodyOfDraft({ operations, name, keys, times, skip, stage, conditions, further }: Draft): Members {
  const match: Record<string, unknown> = {};
  if (operations.length > 0) match.op = operations.length === 1 ? operations[0] : operations;
  for (const { id, name: member, value } of conditions) {
    const row = CONDITIONS.find((one) => one.id === id)!;
    if (value === '' && member === '') continue;
    put(match, row.nameOf ? [...row.path, member] : row.path, readValue(row, value));
  }
  const { when: _when, ...members } = membersOf(further);
  return {
    spec: writeSpec({ name, times: times.trim(), skip: skip.trim(), stage, keys }),
    ...(Object.keys(match).length > 0 && { match }),
    ...members,
  };
}

/** What the draft's `when` has beside what words say. */
export function whenOfDraft({ further }: Draft): Members {
  return (membersOf(further).when ?? {}) as Members;
}

function membersOf(further: Draft['further']): Members {
  const members: Record<string, unknown> = {};
  for (const row of FURTHER) {
    const text = (further[row.id] ?? '').trim();
    if (text !== '') put(members, row.path, readValue(row, text));
  }
  return members;
}

/** A text that is no number stays one, which is told of as such. */
function readValue({ isList, isNumber }: Pick<FurtherMember, 'isList' | 'isNumber'>, text: string): unknown {
  if (isList) return text.split(',').map((one) => one.trim());
  return isNumber && Number.isFinite(Number(text)) ? Number(text) : text;
}

function put(members: Record<string, unknown>, [first, ...rest]: readonly string[], value: unknown): void {
  const inner = Object.hasOwn(members, first!) ? (members[first!] as Record<string, unknown>) : {};
  if (rest.length > 0) put(inner, rest, value);
  // A member of that name is to be its own, whatever it is called.
  const own = { value: rest.length > 0 ? inner : value, enumerable: true, writable: true, configurable: true };
  Object.defineProperty(members, first!, own);
}
