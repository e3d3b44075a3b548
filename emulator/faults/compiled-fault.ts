import { problem } from '../http/problem.js';
import { lazy } from '../memory/lazy.js';
import { parseDuration, parseTime } from '../time/iso-8601.js';
import { criteriaOf, findContradiction } from './conditions.js';
import type { Action, Fault, Match } from './fault.js';
import { matchesGlob } from './glob.js';
import { writeFault } from './grammar.js';
import { actionsOf, carriedOutAt, codeOf, type Entry, kindNameOf, stageOf, stagesFor } from './kinds/index.js';
import type { FaultedOperation } from './operation-shape.js';
import { canReplaceResponse, checkReach, type ReachContext } from './reach.js';
import { stagesOf } from './request-shape.js';
import { BEFORE_IN_BAND, type Position, type Stage } from './stage.js';

/** Fault that was validated and prepared for matching requests. Immutable. */
export type CompiledFault = ReturnType<typeof compileFault>;

export interface CompileContext extends ReachContext {
  /** Milliseconds on the world's clock. */
  readonly now: number;
  /** All operations of the service. */
  readonly operations: readonly FaultedOperation[];
}

/**
 * Validates a fault and prepares it for matching. Throws `bad_request` if the fault could never fire; the message names
 * the member and the allowed values.
 */
export function compileFault(definition: Fault, context: CompileContext) {
  const refuse = (detail: string) => problem('bad_request', `${context.where}: ${detail}`);
  const { match = {}, when = {}, at, sequence } = definition;
  if ((definition.do === undefined) === (sequence === undefined)) {
    throw refuse('a fault must have either do or sequence, not both.');
  }
  /**
   * In a sequence, each entry applies to one request. Otherwise there is a single entry, which applies to all requests.
   */
  const entries: readonly Entry[] = sequence
    ? sequence.map((entry) => (entry === 'pass' ? entry : [entry]))
    : [[definition.do!].flat()];
  if (entries.every((entry) => entry === 'pass'))
    throw refuse('sequence: every entry is "pass", so the fault would never fire.');
  if (context.inBand && at !== undefined && BEFORE_IN_BAND.has(at)) {
    throw refuse(
      `at: the stage ${at} is not possible for a fault in a header or token, because it is over before they are read.`,
    );
  }
  const now = context.now;
  const compiled = {
    definition,
    /** Returns the text form; undefined if it has none. */
    text: lazy(() => writeFault(definition)),
    priority: definition.priority ?? 0,
    /** Globs for operation ids; undefined for all operations. */
    operations: match.op === undefined ? undefined : [match.op].flat(),
    criteria: criteriaOf(match),
    entries,
    isSequence: sequence !== undefined,
    skip: when.skip ?? 0,
    /** Infinity if unlimited. */
    times: Math.min(when.times ?? Number.POSITIVE_INFINITY, sequence ? sequence.length : Number.POSITIVE_INFINITY),
    every: when.every ?? 1,
    chance: when.chance ?? 1,
    by: when.by ?? (['rule'] as const),
    /** `from`, `until` and `expires` are in milliseconds on the world's clock. */
    from: when.from === undefined ? Number.NEGATIVE_INFINITY : instantOf(when.from, now),
    until: when.until === undefined ? Number.POSITIVE_INFINITY : instantOf(when.until, now),
    expires: definition.ttl === undefined ? Number.POSITIVE_INFINITY : now + parseDuration(definition.ttl)!,
  };
  if (compiled.from >= compiled.until) throw refuse('when.until must be after when.from.');
  const unknown = compiled.operations?.find((glob) => !context.operations.some(({ id }) => matchesGlob(glob, id)));
  if (unknown !== undefined) {
    throw refuse(`match.op: unknown operation ${JSON.stringify(unknown)}; \`emulator routes\` lists the operations.`);
  }
  for (const action of actionsOf(compiled)) checkStage(action, at, refuse);
  checkValues(match, context.operations, refuse);
  checkReach(compiled, context.operations, context);
  return compiled;
}

function checkStage(action: Action, at: Stage | undefined, refuse: (detail: string) => Error): void {
  const allowed = stagesFor(action);
  if (at === undefined || allowed.includes(at)) return;
  throw refuse(
    `at: ${kindNameOf(action)} is not possible at the stage ${at}; it is possible at ${allowed.join(', ')}.`,
  );
}

/** Throws `bad_request` for values that no request can have. */
function checkValues(match: Match, operations: readonly FaultedOperation[], refuse: (detail: string) => Error): void {
  const { has = [], lacks = [] } = match.token?.scopes ?? {};
  const unknown = has.find((scope) => !operations.some(({ scopes }) => scopes.includes(scope)));
  if (unknown !== undefined) {
    const known = [...new Set(operations.flatMap(({ scopes }) => scopes))].join(', ');
    throw refuse(`match.token.scopes.has: unknown scope ${JSON.stringify(unknown)}; the scopes are ${known}.`);
  }
  const both = has.find((scope) => lacks.includes(scope));
  if (both !== undefined) throw refuse(`match.token.scopes: has and lacks both name ${both}, so no token matches.`);
  const pointer = Object.keys(match.http?.body ?? {}).find((name) => name !== '' && !name.startsWith('/'));
  if (pointer !== undefined) {
    throw refuse(`match.http.body: ${JSON.stringify(pointer)} is not a JSON pointer, such as "/name".`);
  }
  const contradiction = findContradiction(match);
  if (contradiction !== undefined) throw refuse(contradiction);
}

export function isFor({ operations }: CompiledFault, { id }: FaultedOperation): boolean {
  return operations === undefined || operations.some((glob) => matchesGlob(glob, id));
}

/**
 * Returns the point in the pipeline at which the action is carried out for requests of the operation; undefined if
 * there is none.
 */
export function positionOf(
  action: Action,
  { definition: { at } }: CompiledFault,
  operation: FaultedOperation,
): Position | undefined {
  if (!canReplaceResponse(action, operation)) return undefined;
  const stage = stageOf(action, at, operation);
  if (stage === undefined || !stagesOf(operation).has(stage)) return undefined;
  const position = carriedOutAt(action, stage);
  const isQuota = position === 'before' && codeOf(action) === 'rate_limited';
  return isQuota ? 'quota' : position;
}

/** Parses an ISO 8601 time, or a duration that starts at `now`. */
function instantOf(text: string, now: number): number {
  return parseTime(text) ?? now + parseDuration(text)!;
}
