import { type ProblemCode, problemCodes } from '../../http/problem.js';
import type { FaultedOperation } from '../operation-shape.js';
import { BEFORE_IN_BAND, type Position, type Stage } from '../stage.js';
import { type Code, code } from './code.js';
import { type Corrupt, corrupt } from './corrupt.js';
import { type Cut, cut } from './cut.js';
import { type DropObject, drop_object } from './drop-object.js';
import { type ErrorValue, error, errorOfCode } from './error.js';
import { type Flood, flood } from './flood.js';
import { type Hold, hold } from './hold.js';
import type { Dialect, Kind } from './kind.js';
import { type Latency, latency } from './latency.js';
import { type Lost, lost } from './lost.js';
import { type Ng, ng } from './ng.js';
import { type Raw, raw } from './raw.js';
import { type Refuse, refuse } from './refuse.js';
import { type Sideband, sideband } from './sideband.js';
import { type Slice, slice } from './slice.js';
import { type Throttle, throttle } from './throttle.js';
import { type Tls, tls } from './tls.js';

/** Type of the JSON value of each kind of fault, by the name of the kind. */
export interface KindValues {
  readonly error: ErrorValue;
  readonly code: Code;
  readonly raw: Raw;
  readonly latency: Latency;
  readonly throttle: Throttle;
  readonly slice: Slice;
  readonly hold: Hold;
  readonly cut: Cut;
  readonly corrupt: Corrupt;
  readonly drop_object: DropObject;
  readonly sideband: Sideband;
  readonly flood: Flood;
  readonly ng: Ng;
  readonly lost: Lost;
  readonly refuse: Refuse;
  readonly tls: Tls;
}

export type KindName = keyof KindValues;

/** Kinds of faults that delay or replace a response. They apply to API requests and to Git requests. */
export type ResponseKindName = 'error' | 'code' | 'raw' | 'latency' | 'hold';

/** Kinds of faults that apply only to connections, before their requests. */
export type ConnectionKindName = 'refuse' | 'tls';

/** Kinds of faults that apply only to requests of the Git protocol. */
export type GitKindName = 'drop_object' | 'sideband' | 'flood' | 'ng';

/**
 * Action of a fault in JSON: an object with exactly one member, whose name is the kind of fault. Example: `{"latency":
 * {"ms": 100}}`.
 */
export type Action = { [Name in KindName]: { readonly [Only in Name]: KindValues[Name] } }[KindName];

/** Entry of a fault's sequence: the actions for one matching request, or `pass` for no action. */
export type Entry = readonly Action[] | 'pass';

/** Returns all actions that a fault can carry out. Collects them from all entries of its sequence. */
export function actionsOf({ entries }: { readonly entries: readonly Entry[] }): Action[] {
  return entries.flatMap((entry) => (entry === 'pass' ? [] : entry));
}

/** All kinds of faults, by their name in JSON. */
export const KINDS: { readonly [Name in KindName]: Kind<KindValues[Name], unknown> } = {
  error,
  code,
  raw,
  latency,
  throttle,
  slice,
  hold,
  cut,
  corrupt,
  drop_object,
  sideband,
  flood,
  ng,
  lost,
  refuse,
  tls,
};

const { error: _error, ...OTHERS } = KINDS;

/**
 * Kinds of faults by their names in the text form. First come all error codes of the specification, then all kinds
 * except `error`: in the text form, an error code replaces that name.
 */
export const TEXT_NAMES: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ...problemCodes().map(({ code: name, status }) => [name, errorOfCode(name, status) as Kind] as const),
  ...(Object.entries(OTHERS) as [string, Kind][]),
]);

/** Returns the kind of an action, which is the name of its only member. */
export function kindNameOf(action: Action): KindName {
  return Object.keys(action)[0] as KindName;
}

/** Returns the definition of an action's kind, and the action's value. */
export function kindOf(action: Action): { readonly kind: Kind; readonly value: unknown } {
  const name = kindNameOf(action);
  return { kind: KINDS[name] as Kind, value: (action as Readonly<Record<string, unknown>>)[name] };
}

/**
 * Calls the function in `table` for the kind of the action, with the action's value as the first argument. Returns
 * undefined if `table` has no such function.
 */
export function callByKind<Rest extends readonly unknown[], Result>(
  table: { readonly [Name in KindName]?: (value: KindValues[Name], ...rest: Rest) => Result },
  action: Action,
  ...rest: Rest
): Result | undefined {
  const call = table[kindNameOf(action)] as ((value: unknown, ...rest: Rest) => Result) | undefined;
  return call?.(kindOf(action).value, ...rest);
}

/** Returns the error code of an action of the kind `error`; undefined for other kinds. */
export function codeOf(action: Action): ProblemCode | undefined {
  return 'error' in action ? action.error.code : undefined;
}

/**
 * Returns true if no other fault can act at the stage after this action, for example because the action replaces the
 * response.
 */
export function endsStage(action: Action): boolean {
  const { kind, value } = kindOf(action);
  return kind.endsStage(value);
}

/** Returns the action with random values, such as a random delay, drawn with `random`. */
export function drawAction(action: Action, random: () => number): Action {
  const { kind, value } = kindOf(action);
  return kind.draw ? ({ [kindNameOf(action)]: kind.draw(value, random) } as unknown as Action) : action;
}

/** Returns the stages of a request at which the action can be carried out. */
export function stagesFor(action: Action): readonly Stage[] {
  const { kind, value } = kindOf(action);
  return kind.stagesOf?.(value) ?? kind.stages;
}

/**
 * Returns the stage at which a fault acts on requests to the operation. `asked` is the stage that the fault names;
 * undefined selects the default stage of the action. Returns undefined if there is no default stage for this operation.
 */
export function stageOf(action: Action, asked: Stage | undefined, operation: FaultedOperation): Stage | undefined {
  if (asked !== undefined) return asked;
  const stage = kindOf(action).kind.defaults[dialectOf(operation)];
  return stage !== undefined && stagesFor(action).includes(stage) ? stage : undefined;
}

const GIT_OPERATIONS: ReadonlySet<string> = new Set(['gitInfoRefs', 'gitUploadPack', 'gitReceivePack']);

/** Returns the response format of an operation: the id of a Git operation, or `api` for all others. */
export function dialectOf({ id }: Pick<FaultedOperation, 'id'>): Dialect {
  return GIT_OPERATIONS.has(id) ? (id as Dialect) : 'api';
}

/**
 * Returns the position at which the service really carries out an action that a fault has at `stage`. There are two
 * differences. An action that replaces the response at `git.report` runs at `after`: the refs have moved by then, and
 * the new response replaces the whole push report. Faults of the TLS handshake run at `handshake`.
 */
export function carriedOutAt(action: Action, stage: Stage): Position {
  const { replacesResponse, position } = kindOf(action).kind;
  return position ?? (stage === 'git.report' && replacesResponse ? 'after' : stage);
}

/**
 * Returns the stage of a fault that a request cannot carry, because the stage is over before the header and the token
 * of the request are read. Returns undefined if a request can carry the fault.
 */
export function stageBeforeInBand(at: Stage | undefined, actions: readonly Action[]): Stage | undefined {
  const stages = at === undefined ? actions.flatMap(onlyEarlyStages) : [at];
  return stages.find((stage) => BEFORE_IN_BAND.has(stage));
}

/** Returns the possible stages of an action if all of them are before in-band faults are read; otherwise none. */
function onlyEarlyStages(action: Action): readonly Stage[] {
  const stages = stagesFor(action);
  return stages.every((stage) => BEFORE_IN_BAND.has(stage)) ? stages : [];
}
