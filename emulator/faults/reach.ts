import { type ProblemCode, problem } from '../http/problem.js';
import type { Criterion } from './conditions.js';
import type { Action, Fault, Match } from './fault.js';
import { matchesGlob } from './glob.js';
import { isStateCode, isSwitchCode } from './kinds/error.js';
import { actionsOf, codeOf, type Entry, kindNameOf, stagesFor } from './kinds/index.js';
import { isNoLater, knownFrom, stageOfAction } from './known-facts.js';
import type { Effect, FaultedOperation } from './operation-shape.js';
import { effectAt, fits, type RequestShape, shapesOf } from './request-shape.js';
import { STAGES, type Stage } from './stage.js';

/**
 * Returns true if an operation with this effect is refused while its repository is in a certain state. `code` is the
 * error code that reports the state, such as `sync_in_progress`.
 */
export type IsRefused = (code: ProblemCode, operation: FaultedOperation, effect: Effect) => boolean;

export interface ReachContext {
  /** Origin of the fault for error messages: the name of the header or member in which it was given. */
  readonly where: string;
  /** Part of the request that asked for the fault; undefined if the fault was registered through the admin API. */
  readonly inBand?: 'header' | 'claim' | undefined;
  /**
   * Says which operations a repository state refuses. If undefined, every operation on a repository counts as refused.
   */
  readonly isRefused?: IsRefused | undefined;
}

/** Kind of request that an action of a fault can affect, and the stage at which it does so. */
interface FaultPoint {
  readonly shape: RequestShape;
  readonly stage: Stage;
}

/**
 * Throws `bad_request` if an action of the fault could never fire. There are two reasons: no request to `operations`
 * matches the conditions, or the stage of the action comes before the facts of the conditions are known.
 */
export function checkReach(
  compiled: { readonly definition: Fault; readonly criteria: readonly Criterion[]; readonly entries: readonly Entry[] },
  operations: readonly FaultedOperation[],
  context: ReachContext,
): void {
  const { definition, criteria } = compiled;
  const { match = {}, at } = definition;
  const members = [...(match.op === undefined ? [] : ['op']), ...new Set(criteria.map(({ member }) => member))];
  const refuse = (detail: string) => problem('bad_request', `${context.where}: ${detail}`);
  const meant = shapesFor(match, members, operations);
  if (meant.length === 0)
    throw refuse(`no operation matches the conditions of the fault${clashOf(match, members, operations)}.`);
  const who = whoOf(meant);
  for (const action of actionsOf(compiled)) {
    const what = kindNameOf(action);
    const answering = meant.filter(({ operation }) => canReplaceResponse(action, operation));
    if (answering.length === 0) throw refuse(`${who} never returns ${codeOf(action)}.`);
    const points = answering.flatMap((shape): FaultPoint[] => {
      const stage = stageOfAction(action, at, members, shape);
      return stage !== undefined && shape.stages.has(stage) ? [{ shape, stage }] : [];
    });
    if (points.length === 0) {
      const possible = stagesFor(action).filter((stage) => meant.some(({ stages }) => stages.has(stage)));
      const rest = possible.length > 0 ? `. The stages at which ${what} is possible are ${possible.join(', ')}` : '';
      throw refuse(`at: ${at === undefined ? what : `the stage ${at}`} is not possible for ${who}${rest}.`);
    }
    const stages = [...new Set(points.map(({ stage }) => stage))].join(', ');
    for (const member of members) {
      if (points.some((point) => isKnown(member, point, context))) continue;
      const known = (Object.keys(STAGES) as Stage[]).filter((stage) =>
        meant.some((shape) => shape.stages.has(stage) && isKnown(member, { shape, stage }, context)),
      );
      throw refuse(
        `match.${member} is not yet known at ${stages}, the stage of ${what}. It is known at ${known.join(', ')}.`,
      );
    }
    const knowing = points.filter((point) => members.every((member) => isKnown(member, point, context)));
    if (knowing.length === 0)
      throw refuse(
        `no request can match all of ${members.map((member) => `match.${member}`).join(', ')} at the stage ${stages}.`,
      );
    const lacked = match.token?.scopes?.lacks ?? [];
    const coming = knowing.filter((point) => !isStopped(point, members, lacked));
    if (coming.length === 0) {
      throw refuse(`match.token.scopes.lacks: ${who} refuses requests without the scope before the stage ${stages}.`);
    }
    if (!coming.some((point) => isStateRefusing(action, point, context))) {
      throw refuse(`${who} never returns ${codeOf(action)}: the state does not refuse such a request.`);
    }
  }
}

/**
 * Returns the kinds of requests to `operations` that can match the conditions `members`. A request without a fact that
 * a condition compares cannot match.
 */
export function shapesFor(
  match: Match,
  members: readonly string[],
  operations: readonly FaultedOperation[],
): readonly RequestShape[] {
  const globs = match.op === undefined ? undefined : [match.op].flat();
  return operations
    .filter(({ id }) => globs === undefined || globs.some((glob) => matchesGlob(glob, id)))
    .flatMap(shapesOf)
    .filter((shape) => fits(shape, match) && members.every((member) => knownFrom(member, shape) !== undefined));
}

/**
 * Returns the end of an error message that lists the contradicting conditions; the empty text if none. A condition is
 * listed if some request matches all other conditions.
 */
function clashOf(match: Match, members: readonly string[], operations: readonly FaultedOperation[]): string {
  const clashing = members.filter((member) => {
    const others = members.filter((one) => one !== member);
    return shapesFor(without(match, member), others, operations).length > 0;
  });
  return clashing.length > 0
    ? `: no request can match all of ${clashing.map((member) => `match.${member}`).join(', ')}`
    : '';
}

/** Returns true if the operation can return the error code of the action. Also true if the action has no error code. */
export function canReplaceResponse(action: Action, { errors }: FaultedOperation): boolean {
  const code = codeOf(action);
  return code === undefined || !isSwitchCode(code) || (errors?.includes(code) ?? false);
}

/**
 * Returns true if the fact that the condition `member` compares is known at the stage of `point`. Faults in a claim are
 * read after the token was verified, so for them the token is known even at the stage `auth`.
 */
function isKnown(member: string, { shape, stage }: FaultPoint, { inBand }: ReachContext): boolean {
  return isNoLater(knownFrom(member, shape)!, inBand === 'claim' && stage === 'auth' ? 'body' : stage);
}

/** Returns true if a request without the scopes `lacked` is refused before the fault could fire. */
function isStopped({ shape, stage }: FaultPoint, members: readonly string[], lacked: readonly string[]): boolean {
  if (!shape.scopes.some((scope) => lacked.includes(scope))) return false;
  const isBehind = !isNoLater(stage, 'auth') && isNoLater(stage, 'after');
  return isBehind || members.some((member) => isNoLater('before', knownFrom(member, shape)!));
}

/**
 * Returns true if the action simulates a repository state that would refuse this request. Also true if the action
 * simulates no state.
 */
function isStateRefusing(action: Action, { shape, stage }: FaultPoint, { isRefused }: ReachContext): boolean {
  const code = codeOf(action);
  if (code === undefined || !isStateCode(code)) return true;
  const { operation } = shape;
  if (isRefused) return isRefused(code, operation, effectAt(shape, isNoLater('before', stage)));
  return operation.subject === 'repository' || (operation.errors?.includes(code) ?? false);
}

/**
 * Returns the subject of an error message: the id of the operation if there is only one, otherwise "the matching
 * operations".
 */
function whoOf(meant: readonly RequestShape[]): string {
  const ids = new Set(meant.map(({ operation }) => operation.id));
  return ids.size === 1 ? [...ids][0]! : 'the matching operations';
}

/** Returns a copy of `match` without one condition, such as `git.ref`. */
function without(match: Match, member: string): Match {
  const [group, name] = member.split('.') as [keyof Match, string | undefined];
  const rest = { ...(match[group] as object), [name ?? '']: undefined };
  return { ...match, [group]: name === undefined ? undefined : rest };
}
