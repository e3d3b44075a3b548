import { ArmedRequest } from '../faults/armed-request.js';
import { readClaim, readScenarioName } from '../faults/fault-claim.js';
import { parseFaults } from '../faults/grammar.js';
import type { FaultEntry } from '../faults/tally.js';
import { problem } from '../http/problem.js';
import type { Operation } from '../operation/operation.js';
import { applyFaults } from './fault-actions.js';
import type { RequestContext, Step } from './request-context.js';

const HEADER = 'X-Emulator-Fault';

/**
 * Returns the step that collects the faults (simulated failures) for the request: the registered faults, and the faults
 * that the client asks for in request headers.
 */
export function armFaults(operations: readonly Operation[]): Step {
  return (context) => {
    const { headers } = context.request;
    const text = headers['x-emulator-fault'];
    const scenario = headers['x-emulator-scenario'];
    const { faults } = context.world.state;
    if (text === undefined && scenario === undefined && faults.isIdle) return;
    if (text !== undefined || scenario !== undefined) requireInBand(context);
    if (scenario !== undefined) context.scenario = readScenarioName(scenario, 'X-Emulator-Scenario');
    const asked = text === undefined ? [] : askedByHeader(context, String(text), operations);
    arm(context, asked);
  };
}

/**
 * Returns the step that adds the faults (simulated failures) in a claim of the token. It runs after the token is
 * verified. It applies faults of the stage `auth` late, because the claim was unknown when the request passed that
 * stage.
 */
export function armTokenFaults(operations: readonly Operation[]): Step {
  return (context) => {
    const { emu } = context.verified.payload;
    if (emu !== undefined) return armClaim(context, emu, operations);
    enterScenario(context, false);
  };
}

function armClaim(context: RequestContext, emu: unknown, operations: readonly Operation[]): void | Promise<void> {
  requireInBand(context);
  const { written, scenario } = readClaim(emu);
  context.scenario ??= scenario;
  enterScenario(context, written.length > 0);
  const { faults } = context.world.state;
  const entries = written.map((fault) => faults.asked(fault, { where: 'The claim emu', operations, inBand: 'claim' }));
  if (entries.length === 0) return;
  arm(context, entries);
  return applyFaults(context, 'auth');
}

/**
 * Assigns faults (simulated failures) to the request: the registered faults of its operation, and `asked`, the faults
 * that the client asks for.
 */
function arm(context: RequestContext, asked: readonly FaultEntry[]): void {
  const { world, operation } = context;
  if (!(context.faults instanceof ArmedRequest)) {
    const { faults } = world.state;
    const plan = faults.planFor(operation);
    if (plan.at.size === 0 && asked.length === 0) return;
    context.faults = new ArmedRequest(faults, world.background.latches, context, plan);
  }
  if (asked.length > 0) (context.faults as ArmedRequest).add(asked);
}

/**
 * Records the scenario (scripted behaviour of the emulator) that the caller of the request belongs to. If nothing uses
 * the scenario, records that it has no effect.
 *
 * `asks` is true if the token asks for faults. The scenario then has an effect in any case, because faults are counted
 * per scenario.
 */
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
 * Parses the header with the faults (simulated failures) that the client asks for. Each fault must be able to fire for
 * this operation. For a Git client, any Git operation is enough, because the client sends the same header with all
 * requests of a push or fetch.
 */
function askedByHeader(context: RequestContext, text: string, operations: readonly Operation[]): FaultEntry[] {
  const { operation, world } = context;
  const only = operation.group === 'Git' ? operations.filter(({ group }) => group === 'Git') : [operation];
  return parseFaults(text, HEADER).map((written) => {
    return world.state.faults.asked(written, { where: HEADER, operations, inBand: 'header' }, only);
  });
}

/**
 * Throws `bad_request` if clients may not ask for faults (simulated failures). If the request were served without its
 * faults, a test could pass without testing anything.
 */
function requireInBand({ inBandFaults }: RequestContext): void {
  if (inBandFaults) return;
  const detail = 'Requests may not carry faults or scenarios; start the emulator with --inband-faults to allow them.';
  throw problem('bad_request', detail);
}
