import { problem } from '../http/problem.js';
import { lazy } from '../memory/lazy.js';
import { parseDuration, parseTime } from '../time/iso-8601.js';
import { criteriaOf } from './conditions.js';
import type { Action, Fault, Match } from './fault.js';
import { matchesGlob } from './glob.js';
import { writeFault } from './grammar.js';
import {
  actionsOf,
  carriedOutAt,
  codeOf,
  type Entry,
  kindNameOf,
  stageBeforeInBand,
  stagesFor,
} from './kinds/index.js';
import { stageOfAction } from './known-facts.js';
import { findContradiction } from './matchers.js';
import type { FaultedOperation } from './operation-shape.js';
import { canReplaceResponse, checkReach, type ReachContext, shapesFor } from './reach.js';
import { stagesOf } from './request-shape.js';
import type { Position, Stage } from './stage.js';

/** Validated fault in a form that can be checked quickly for each request. Immutable. */
export type CompiledFault = ReturnType<typeof compileFault>;

export interface CompileContext extends ReachContext {
  /** Current time on the clock of the emulated service, in milliseconds since 1970. */
  readonly now: number;
  /** All operations (API endpoints and Git services) that the emulated service offers. */
  readonly operations: readonly FaultedOperation[];
}

/**
 * Validates a fault and converts it to its compiled form. Throws `bad_request` if the fault could never fire; the
 * message names the invalid member and its valid values.
 */
export function compileFault(definition: Fault, context: CompileContext) {
  const refuse = (detail: string) => problem('bad_request', `${context.where}: ${detail}`);
  const { match = {}, when = {}, at, sequence } = definition;
  if ((definition.do === undefined) === (sequence === undefined)) {
    throw refuse('a fault must have exactly one of the members do and sequence.');
  }
  /**
   * Lists of actions. With a `sequence`, the n-th matching request gets the n-th list. Otherwise the only list applies
   * to every matching request.
   */
  const entries: readonly Entry[] = sequence
    ? sequence.map((entry) => (entry === 'pass' ? entry : [entry]))
    : [[definition.do!].flat()];
  if (entries.every((entry) => entry === 'pass'))
    throw refuse('sequence has only "pass", so the fault would never fire. At least one entry must be an action.');
  const early = context.inBand && stageBeforeInBand(at, actionsOf({ entries }));
  if (early !== undefined) {
    throw refuse(
      `at: the stage ${early} is over before a fault in a header or token is read. Add the fault with POST /_emulator/faults.`,
    );
  }
  if (context.inBand && definition.enabled === false) {
    throw refuse('enabled: a fault in a header or token cannot be disabled, because it would never fire.');
  }
  const now = context.now;
  const compiled = {
    definition,
    /** Text form of the fault, such as `rate_limited*2@before`. Undefined if only JSON can express the fault. */
    text: lazy(() => writeFault(definition)),
    priority: definition.priority ?? 0,
    isEnabled: definition.enabled ?? true,
    /** Globs for operation ids. The fault applies only to matching operations; undefined means all operations. */
    operations: match.op === undefined ? undefined : [match.op].flat(),
    criteria: criteriaOf(match),
    entries,
    isSequence: sequence !== undefined,
    skip: when.skip ?? 0,
    /** Maximum number of firings; `Infinity` if unlimited. A sequence fires at most once per entry. */
    times: Math.min(when.times ?? Number.POSITIVE_INFINITY, sequence ? sequence.length : Number.POSITIVE_INFINITY),
    every: when.every ?? 1,
    chance: when.chance ?? 1,
    by: when.by ?? (['rule'] as const),
    /**
     * Times at which the fault starts firing, stops firing, and is removed. In milliseconds since 1970 on the clock of
     * the emulated service; ±`Infinity` if unlimited.
     */
    from: when.from === undefined ? Number.NEGATIVE_INFINITY : instantOf(when.from, now),
    until: when.until === undefined ? Number.POSITIVE_INFINITY : instantOf(when.until, now),
    expires: definition.ttl === undefined ? Number.POSITIVE_INFINITY : now + parseDuration(definition.ttl)!,
  };
  if (compiled.from >= compiled.until) throw refuse('when.until must be after when.from.');
  const unknown = compiled.operations?.find((glob) => !context.operations.some(({ id }) => matchesGlob(glob, id)));
  if (unknown !== undefined) {
    throw refuse(`match.op: unknown operation ${JSON.stringify(unknown)}. \`emulator routes\` lists all operations.`);
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
    `at: the fault ${kindNameOf(action)} is not possible at the stage ${at}. It is possible at ${allowed.join(', ')}.`,
  );
}

/** Throws `bad_request` if `match` requires a value that no request can have, such as an unknown scope. */
function checkValues(match: Match, operations: readonly FaultedOperation[], refuse: (detail: string) => Error): void {
  const { has = [], lacks = [] } = match.token?.scopes ?? {};
  const unknown = has.find((scope) => !operations.some(({ scopes }) => scopes.includes(scope)));
  if (unknown !== undefined) {
    const known = [...new Set(operations.flatMap(({ scopes }) => scopes))].join(', ');
    throw refuse(`match.token.scopes.has: unknown scope ${JSON.stringify(unknown)}. The scopes are ${known}.`);
  }
  const both = has.find((scope) => lacks.includes(scope));
  if (both !== undefined)
    throw refuse(`match.token.scopes: has and lacks both name the scope ${both}, so no token can match.`);
  const contradiction = findContradiction(match);
  if (contradiction !== undefined) throw refuse(contradiction);
}

/** Returns true if the fault applies to requests to the operation. */
export function isFor({ operations }: CompiledFault, { id }: FaultedOperation): boolean {
  return operations === undefined || operations.some((glob) => matchesGlob(glob, id));
}

/**
 * Returns the position at which the action is carried out: a stage of the request, or the check of the quotas. Returns
 * undefined if the operation never reaches that stage, or cannot return the error code of the action.
 */
export function positionOf(
  action: Action,
  { definition: { at, match = {} }, criteria }: CompiledFault,
  operation: FaultedOperation,
): Position | undefined {
  if (!canReplaceResponse(action, operation)) return undefined;
  const members = criteria.map(({ member }) => member);
  const stage = shapesFor(match, members, [operation])
    .map((shape) => stageOfAction(action, at, members, shape))
    .find((one) => one !== undefined);
  if (stage === undefined || !stagesOf(operation).has(stage)) return undefined;
  const position = carriedOutAt(action, stage);
  const isQuota = position === 'before' && codeOf(action) === 'rate_limited';
  return isQuota ? 'quota' : position;
}

/** Parses an ISO 8601 time, or an ISO 8601 duration that is added to `now`. Returns milliseconds since 1970. */
function instantOf(text: string, now: number): number {
  return parseTime(text) ?? now + parseDuration(text)!;
}
