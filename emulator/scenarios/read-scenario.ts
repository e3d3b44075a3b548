import type { Fault } from '../faults/fault.js';
import { matchesGlob } from '../faults/glob.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import { readWritten, within } from '../faults/schema.js';
import { checkShape } from '../http/body.js';
import { isObject, type Members } from '../http/json-reader.js';
import { problem } from '../http/problem.js';
import { readExpectations } from '../journal/expectations.js';
import { parseTime } from '../time/iso-8601.js';
import type { Scenario, Step, Trigger } from './scenario.js';
import { checkFaults } from './scenario-runner.js';
import { PUSH, scenarioSchema } from './schema.js';

/**
 * Validates a scenario from a file or a request. Throws `bad_request` with the name of a member that is invalid or
 * could never have an effect.
 */
export function readScenario(value: unknown, operations: readonly FaultedOperation[]): Scenario {
  const expanded = isObject(value) ? expand(value) : value;
  const read = checkShape(scenarioSchema, expanded, 'The scenario') as unknown as Members;
  const steps = (read.steps as readonly Members[] | undefined)?.map((step, at) => readFaults(step, `steps.${at}.`));
  const scenario = { ...readFaults(read, ''), ...(steps && { steps }) } as unknown as Scenario;
  if (scenario.expect !== undefined) within('expect', () => readExpectations(scenario.expect));
  checkSteps(scenario.steps ?? [], operations);
  checkFaults(scenario, operations, 0);
  return scenario;
}

/**
 * Replaces short forms, such as `clock: real`, by full forms. The schema can then allow only full forms, so its errors
 * name the invalid member.
 */
function expand(value: Members): Members {
  const { clock, steps } = value;
  return {
    ...value,
    ...(typeof clock === 'string' && { clock: expandClock(clock) }),
    ...(Array.isArray(steps) && { steps: steps.map((step: unknown, at) => expandStep(step, at)) }),
  };
}

function expandClock(text: string): Members {
  if (text === 'real') return { mode: 'real' };
  if (parseTime(text) !== undefined) return { mode: 'tick', now: text };
  throw problem(
    'bad_request',
    'clock must be real, an ISO 8601 time such as 2026-01-01T00:00:00Z, or an object with mode and now.',
  );
}

function expandStep(step: unknown, at: number): unknown {
  if (!isObject(step) || typeof step.on !== 'string') return step;
  const push = PUSH.exec(step.on)?.[1];
  if (push !== undefined) return { ...step, on: { push } };
  throw problem(
    'bad_request',
    `steps.${at}.on must be a text of the form "push to BRANCH", or an object such as {"op": "grep"}.`,
  );
}

function readFaults(value: Members, where: string): Members {
  const { faults } = value;
  if (!Array.isArray(faults)) return value;
  return { ...value, faults: faults.map((fault: unknown, at) => readWrittenFault(fault, `${where}faults.${at}`)) };
}

/** Parses one fault, which is text, JSON, or text with additional members. */
function readWrittenFault(fault: unknown, where: string): Fault {
  if (typeof fault !== 'string' && !isObject(fault)) {
    throw problem('bad_request', `${where} must be a fault: its text form, such as "rate_limited*2", or an object.`);
  }
  return within(where, () => readWritten(fault, where).fault);
}

/**
 * Throws `bad_request` if the trigger `on` of a step can never match. Also throws if a step changes the repository of
 * its triggering request, but such a request has no repository.
 */
function checkSteps(steps: readonly Step[], operations: readonly FaultedOperation[]): void {
  let before: readonly FaultedOperation[] | undefined;
  for (const [at, { on, repository }] of steps.entries()) {
    if (on) before = operationsOf(on, `steps.${at}.on`, operations);
    if (!repository) continue;
    const refuse = (why: string) => problem('bad_request', `steps.${at}.repository: ${why}.`);
    if (!before)
      throw refuse(
        'it has no meaning, because no "on" of this or an earlier step selects a repository. Use state.repositories',
      );
    if (before.every(({ subject }) => subject === 'organization')) {
      throw refuse(
        `it has no meaning, because requests of ${before.map(({ id }) => id).join(', ')} have no repository. Use state.repositories`,
      );
    }
  }
}

/** Returns the operations whose requests can match the trigger of a step. Throws `bad_request` if there are none. */
function operationsOf(
  { op, push, ref }: Trigger,
  where: string,
  operations: readonly FaultedOperation[],
): readonly FaultedOperation[] {
  const globs = op === undefined ? ['*'] : [op].flat();
  const unknown = globs.find((glob) => !operations.some(({ id }) => matchesGlob(glob, id)));
  if (unknown !== undefined) {
    const detail = `unknown operation ${JSON.stringify(unknown)}. \`emulator routes\` lists all operations.`;
    throw problem('bad_request', `${where}.op: ${detail}`);
  }
  const matching = operations.filter(({ id }) => globs.some((glob) => matchesGlob(glob, id)));
  for (const [member, given] of Object.entries({ push, ref })) {
    // Operations that can move refs allow `push` and `ref`. Read operations allow only `ref`, and only if they are Git
    // operations, because Git requests name the refs that they read.
    const isPossible = ({ effect, group }: FaultedOperation) =>
      effect !== 'read' || (group === 'Git' && member === 'ref');
    if (given === undefined || matching.some(isPossible)) continue;
    throw problem(
      'bad_request',
      `${where}.${member} cannot be used, because requests of ${matching[0]!.id} do not move refs.`,
    );
  }
  return matching;
}
