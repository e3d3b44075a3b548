import { parseDuration, parseTime } from '../environment/iso-8601.js';
import { problem } from '../http/problem.js';
import { carriedOutAt, kindOf, stageOf, stagesFor } from './actions.js';
import type { Action, Fault, When } from './fault.js';
import { matchesGlob } from './glob.js';
import { type Criterion, criteriaOf } from './matching.js';
import { isSwitchCode } from './names.js';
import { type FaultedOperation, selectOperations, stagesOf } from './operation-shape.js';
import { BEFORE_IN_BAND, type Position, STAGES, type Stage } from './stage.js';

export type Entry = readonly Action[] | 'pass';

/** A fault that was found in order, ready to be asked about requests. Nothing of it ever changes. */
export interface CompiledFault {
  readonly definition: Fault;
  readonly priority: number;
  /** What operations have to be called; undefined: anything. */
  readonly operations: readonly string[] | undefined;
  readonly criteria: readonly Criterion[];
  /** One for all requests, or of a sequence one for each. */
  readonly entries: readonly Entry[];
  readonly isSequence: boolean;
  readonly skip: number;
  /** Infinity where there is no end. */
  readonly times: number;
  readonly every: number;
  readonly chance: number;
  readonly by: NonNullable<When['by']>;
  /** Milliseconds on the world's clock. */
  readonly from: number;
  readonly until: number;
  readonly expires: number;
}

export interface CompileContext {
  /** What the fault is called in a refusal: the name of a header, or of a member. */
  readonly where: string;
  /** Milliseconds on the world's clock. */
  readonly now: number;
  /** Every operation there is. */
  readonly operations: readonly FaultedOperation[];
  /** How the fault came, if with a request. */
  readonly inBand?: 'header' | 'claim';
}

/** Stages that are over, or not begun, when the credential has been verified. */
const BEFORE_TOKEN: readonly Stage[] = ['accept', 'headers', 'auth'];
const GIT_EXCHANGES: readonly Stage[] = ['git.advertise', 'git.pack', 'git.receive', 'git.report'];
const ALL_STAGES = Object.keys(STAGES) as Stage[];

/** What a criterion asks of is not known at every stage. */
const KNOWN_AT: readonly (readonly [member: RegExp, stages: readonly Stage[]])[] = [
  [/^token\./, ALL_STAGES.filter((stage) => !BEFORE_TOKEN.includes(stage))],
  [/^http\.body$/, ALL_STAGES.filter((stage) => !BEFORE_TOKEN.includes(stage))],
  [/^git\.(command|ref)$/, GIT_EXCHANGES],
  [/./, ALL_STAGES.filter((stage) => stage !== 'accept')],
];

/** Throws `bad_request` for a fault that could never fire; the sentence names the member and what is allowed. */
export function compileFault(definition: Fault, context: CompileContext): CompiledFault {
  const refuse = (detail: string) => problem('bad_request', `${context.where}: ${detail}`);
  const { match = {}, when = {}, at, sequence } = definition;
  if ((definition.do === undefined) === (sequence === undefined)) {
    throw refuse('a fault has do or sequence, and not both.');
  }
  const entries = sequence ? sequence.map((entry) => (entry === 'pass' ? entry : [entry])) : [[definition.do!].flat()];
  if (entries.every((entry) => entry === 'pass'))
    throw refuse('sequence: a fault that lets everything pass never fires.');
  if (context.inBand && at !== undefined && BEFORE_IN_BAND.has(at)) {
    throw refuse(`at: ${at} cannot be asked for in band; the request has passed it by then.`);
  }
  const now = context.now;
  const compiled: CompiledFault = {
    definition,
    priority: definition.priority ?? 0,
    operations: match.op === undefined ? undefined : [match.op].flat(),
    criteria: criteriaOf(match),
    entries,
    isSequence: sequence !== undefined,
    skip: when.skip ?? 0,
    times: Math.min(when.times ?? Number.POSITIVE_INFINITY, sequence ? sequence.length : Number.POSITIVE_INFINITY),
    every: when.every ?? 1,
    chance: when.chance ?? 1,
    by: when.by ?? ['rule'],
    from: when.from === undefined ? Number.NEGATIVE_INFINITY : instantOf(when.from, now),
    until: when.until === undefined ? Number.POSITIVE_INFINITY : instantOf(when.until, now),
    expires: definition.ttl === undefined ? Number.POSITIVE_INFINITY : now + parseDuration(definition.ttl)!,
  };
  if (compiled.from >= compiled.until) throw refuse('when.until has to be after when.from.');
  const unknown = compiled.operations?.find((glob) => !context.operations.some(({ id }) => matchesGlob(glob, id)));
  if (unknown !== undefined) {
    throw refuse(`match.op: there is no operation ${JSON.stringify(unknown)}; \`emulator routes\` prints them.`);
  }
  if (at === 'accept' && match.op !== undefined) {
    throw refuse('match.op is not known at accept, where nothing has been read.');
  }
  for (const action of actionsOf(compiled)) checkStage(action, at, refuse);
  checkReach(compiled, context.operations, context);
  return compiled;
}

function checkStage(action: Action, at: Stage | undefined, refuse: (detail: string) => Error): void {
  const allowed = stagesFor(action);
  if (at === undefined || allowed.includes(at)) return;
  throw refuse(`at: ${kindOf(action)} cannot happen at ${at}; it can at ${allowed.join(', ')}.`);
}

/** Throws `bad_request` unless each action of the fault can happen to a request of at least one of `operations`. */
export function checkReach(
  compiled: CompiledFault,
  operations: readonly FaultedOperation[],
  { where, inBand }: Pick<CompileContext, 'where' | 'inBand'>,
): void {
  const { definition, criteria } = compiled;
  const meant = candidates(compiled, operations);
  if (meant.length === 0) throw problem('bad_request', `${where}: no operation is what match asks for.`);
  const hasStage = new Map<Action, Set<Stage>>();
  for (const action of actionsOf(compiled)) {
    const stages = new Set<Stage>();
    if (!meant.some((operation) => canAnswer(action, operation))) {
      const { code } = (action as Extract<Action, { error: unknown }>).error;
      throw problem('bad_request', `${where}: ${whoOf(meant)} cannot answer with ${code}.`);
    }
    for (const operation of meant) {
      if (!canAnswer(action, operation)) continue;
      const stage = stageOf(action, definition.at, operation);
      if (stage !== undefined && stagesOf(operation).has(stage)) stages.add(stage);
    }
    if (stages.size === 0) {
      const known = new Set(meant.flatMap((operation) => [...stagesOf(operation)]));
      const possible = stagesFor(action).filter((stage) => known.has(stage));
      const what = definition.at === undefined ? kindOf(action) : `the stage ${definition.at}`;
      const rest = possible.length > 0 ? `; there ${kindOf(action)} can happen at ${possible.join(', ')}` : '';
      throw problem('bad_request', `${where}: at: ${what} does not happen on ${whoOf(meant)}${rest}.`);
    }
    hasStage.set(action, stages);
  }
  for (const { member } of criteria) {
    const known = KNOWN_AT.find(([pattern]) => pattern.test(member))![1];
    for (const [action, stages] of hasStage) {
      const isKnown = [...stages].some((stage) => known.includes(stage) || (inBand === 'claim' && stage === 'auth'));
      if (isKnown) continue;
      const text = `match.${member} is not known at ${[...stages].join(', ')}, where ${kindOf(action)} would happen`;
      throw problem('bad_request', `${where}: ${text}; it is at ${known.join(', ')}.`);
    }
  }
}

function whoOf(meant: readonly FaultedOperation[]): string {
  return meant.length === 1 ? meant[0]!.id : 'the operations it is for';
}

/** Whether the action can happen to requests of the operation at all. */
function canAnswer(action: Action, { errors }: FaultedOperation): boolean {
  return !('error' in action) || !isSwitchCode(action.error.code) || (errors?.includes(action.error.code) ?? false);
}

/** The operations whose requests can be what the fault asks for, as far as their rows say so. */
function candidates(
  { operations: globs, definition: { match = {} } }: CompiledFault,
  operations: readonly FaultedOperation[],
): readonly FaultedOperation[] {
  const named = globs ? selectOperations(globs, operations) : operations;
  const { git, http } = match;
  return named.filter(({ id, reads }) => {
    if (http?.body !== undefined && reads !== 'json') return false;
    if (git === undefined) return true;
    if (id === 'gitInfoRefs') return git.phase !== 'rpc' && git.command === undefined && git.ref === undefined;
    if (git.phase === 'advertise') return false;
    if (id === 'gitUploadPack') return git.service !== 'receive-pack';
    return id === 'gitReceivePack' && git.service !== 'upload-pack' && git.command === undefined;
  });
}

export function isFor({ operations }: CompiledFault, { id }: FaultedOperation): boolean {
  return operations === undefined || operations.some((glob) => matchesGlob(glob, id));
}

/** Where a request of the operation meets `action`; undefined: nowhere. */
export function positionOf(
  action: Action,
  { definition: { at } }: CompiledFault,
  operation: FaultedOperation,
): Position | undefined {
  if (!canAnswer(action, operation)) return undefined;
  const stage = stageOf(action, at, operation);
  if (stage === undefined || !stagesOf(operation).has(stage)) return undefined;
  const position = carriedOutAt(action, stage);
  const isQuota = position === 'before' && 'error' in action && action.error.code === 'rate_limited';
  return isQuota ? 'quota' : position;
}

export function actionsOf({ entries }: CompiledFault): Action[] {
  return entries.flatMap((entry) => (entry === 'pass' ? [] : entry));
}

/** ISO 8601: a time, or a duration from `now` on. */
function instantOf(text: string, now: number): number {
  return parseTime(text) ?? now + parseDuration(text)!;
}
