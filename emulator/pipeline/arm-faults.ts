import { ArmedRequest } from '../faults/armed-request.js';
import type { FaultEntry } from '../faults/fault-entry.js';
import { FAULT_LIMITS } from '../faults/fault-limits.js';
import { parseFault, parseFaults, type WrittenFault } from '../faults/grammar.js';
import { SCENARIO } from '../faults/scenario.js';
import { problem } from '../http/problem.js';
import type { Operation } from '../operation/operation.js';
import { meetFaults } from './fault-actions.js';
import { ContextFacts } from './fault-facts.js';
import type { RequestContext, Step } from './request-context.js';

const HEADER = 'X-Emulator-Fault';
const CLAIM = 'The claim emu';

/** Step: the faults that the request can meet, those it asks for by its headers among them. */
export function armFaults(operations: readonly Operation[]): Step {
  return (context) => {
    const { headers } = context.request;
    const text = headers['x-emulator-fault'];
    const scenario = headers['x-emulator-scenario'];
    const { faults } = context.world.state;
    if (text === undefined && scenario === undefined && faults.isIdle) return;
    if (text !== undefined || scenario !== undefined) requireInBand(context);
    if (scenario !== undefined) context.scenario = readScenario(scenario, 'X-Emulator-Scenario');
    const asked = text === undefined ? [] : askedByHeader(context, String(text), operations);
    arm(context, asked);
  };
}

/** Step: the faults that the token asks for. They also meet the stage that is over by now: the token was in order. */
export function armTokenFaults(operations: readonly Operation[]): Step {
  return (context) => {
    const { emu } = context.verified.payload;
    if (emu !== undefined) return armClaim(context, emu, operations);
    enterScenario(context, false);
  };
}

async function armClaim(context: RequestContext, emu: unknown, operations: readonly Operation[]): Promise<void> {
  requireInBand(context);
  const { written, scenario } = await readClaim(emu);
  context.scenario ??= scenario;
  enterScenario(context, written.length > 0);
  const { faults } = context.world.state;
  const entries = written.map((fault) => faults.asked(fault, { where: CLAIM, operations, inBand: 'claim' }));
  if (entries.length === 0) return;
  arm(context, entries);
  await meetFaults(context, 'auth');
}

/** Arms the request with the registered faults of its operation, and those that it asks for. */
function arm(context: RequestContext, asked: readonly FaultEntry[]): void {
  const { world, operation } = context;
  if (!(context.faults instanceof ArmedRequest)) {
    const { faults } = world.state;
    const plan = faults.planFor(operation);
    if (plan.at.size === 0 && asked.length === 0) return;
    context.faults = new ArmedRequest(faults, world.background.latches, new ContextFacts(context), plan);
  }
  if (asked.length > 0) (context.faults as ArmedRequest).add(asked);
}

/** Records the scenario of the caller. `asks` is true if the token asks for faults, which are counted by scenario. */
function enterScenario(context: RequestContext, asks: boolean): void {
  const { scenario, claims, organizationName, world, request } = context;
  if (scenario === undefined) return;
  const { faults, scenarios } = world.state;
  faults.enterScenario(`${organizationName}\0${claims.repo ?? ''}\0${claims.sub}`, scenario);
  if (asks || request.headers['x-emulator-fault'] !== undefined) return;
  if (scenarios.names(scenario) || faults.namesScenario(scenario)) return;
  context.ignore(`scenario ${scenario} has no effect: no scenario, step or fault of the emulator has this name`);
}

/**
 * A Git client sends the same header with every request of a conversation, so there it only has to fit one of
 * Git's operations; elsewhere it has to fit this one.
 */
function askedByHeader(context: RequestContext, text: string, operations: readonly Operation[]): FaultEntry[] {
  const { operation, world } = context;
  const only = operation.group === 'Git' ? operations.filter(({ group }) => group === 'Git') : [operation];
  return parseFaults(text, HEADER).map((written) => {
    return world.state.faults.asked(written, { where: HEADER, operations, inBand: 'header' }, only);
  });
}

/** Throws `bad_request`: a request that asks for a fault is never served as if it had not. */
function requireInBand({ inBandFaults }: RequestContext): void {
  if (inBandFaults) return;
  const detail =
    'Requests cannot ask for faults or scenarios here; the emulator has to be started with --inband-faults.';
  throw problem('bad_request', detail);
}

function readScenario(value: unknown, where: string): string {
  if (typeof value === 'string' && SCENARIO.test(value)) return value;
  throw problem('bad_request', `${where}: a scenario is named by letters, digits, _, ., :, / and -.`);
}

/** What the claim `emu` asks for: `{"faults": ["rate_limited*2", {"do": …}], "scenario": "s1"}`. Throws `bad_request`. */
export async function readClaim(
  emu: unknown,
): Promise<{ readonly written: readonly WrittenFault[]; readonly scenario: string | undefined }> {
  if (typeof emu !== 'object' || emu === null || Array.isArray(emu)) {
    throw problem('bad_request', `${CLAIM} has to be an object of faults and scenario.`);
  }
  const { faults = [], scenario, ...others } = emu as Readonly<Record<string, unknown>>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw problem(
      'bad_request',
      `${CLAIM}: there is no member ${JSON.stringify(unknown)}; there are faults, scenario.`,
    );
  }
  if (!Array.isArray(faults) || faults.length > FAULT_LIMITS.perRequest) {
    throw problem('bad_request', `${CLAIM}: faults has to be a list of at most ${FAULT_LIMITS.perRequest}.`);
  }
  const written = faults.map((fault: unknown, index) => readAsked(fault, `${CLAIM}: faults.${index}`));
  return {
    written: await Promise.all(written),
    scenario: scenario === undefined ? undefined : readScenario(scenario, `${CLAIM}: scenario`),
  };
}

/** A fault as text or as JSON. Few requests have the latter, so that its schema is loaded when the first one comes. */
async function readAsked(fault: unknown, where: string): Promise<WrittenFault> {
  if (typeof fault === 'string') return parseFault(fault.trim(), where);
  const { readWritten } = await import('../faults/schema.js');
  return readWritten(fault, where);
}
