import { problem } from '../http/problem.js';
import { compileFault } from './compiled-fault.js';
import type { GivenFault } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import { parseFault } from './grammar.js';
import type { FaultedOperation } from './operation-shape.js';
import { SCENARIO } from './scenario.js';

/** What the requests of a token ask for. */
export interface AskedByToken {
  readonly faults?: readonly (string | GivenFault)[] | undefined;
  readonly scenario?: string | undefined;
}

/** The claims of a token by which its requests ask for faults: none where it asks for nothing. */
export type FaultClaims = { readonly emu?: AskedByToken };

/**
 * Makes the claim of a token that is about to be signed. Throws `bad_request` for what every request with the token would
 * be refused for, so that it is told before anything is sent. `where` is what the faults are called in a refusal.
 */
export async function faultClaims(
  { faults, scenario }: AskedByToken,
  { where, operations }: { readonly where: string; readonly operations: readonly FaultedOperation[] },
): Promise<FaultClaims> {
  if (faults === undefined && scenario === undefined) return {};
  if (scenario !== undefined && !SCENARIO.test(scenario)) {
    throw problem('bad_request', 'scenario: a scenario is named by letters, digits, _, ., :, / and -.');
  }
  if (faults && faults.length > FAULT_LIMITS.perRequest) {
    throw problem('bad_request', `${where}: at most ${FAULT_LIMITS.perRequest} faults can be asked for at a time.`);
  }
  const written = await Promise.all((faults ?? []).map((fault) => readOne(fault, where)));
  for (const { fault } of written) compileFault(fault, { where, now: 0, operations, inBand: 'claim' });
  return { emu: { ...(faults && { faults }), ...(scenario !== undefined && { scenario }) } };
}

async function readOne(fault: string | GivenFault, where: string) {
  if (typeof fault === 'string') return parseFault(fault.trim(), where);
  const { readWritten } = await import('./schema.js');
  return readWritten(fault, where);
}
