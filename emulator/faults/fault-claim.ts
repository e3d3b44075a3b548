import { isObject } from '../http/json-reader.js';
import { problem } from '../http/problem.js';
import { compileFault } from './compiled-fault.js';
import type { GivenFault } from './fault.js';
import { FAULT_LIMITS, SCENARIO } from './fault-limits.js';
import type { WrittenFault } from './grammar.js';
import type { FaultedOperation } from './operation-shape.js';
import { readWritten } from './schema.js';

/**
 * Content of the claim `emu` of a token. The faults are injected into every request with the token, and the requests
 * belong to the given scenario.
 */
export interface AskedByToken {
  readonly faults?: readonly (string | GivenFault)[] | undefined;
  readonly scenario?: string | undefined;
}

/** Claims that are added to a token. Empty if the token asks for no faults and names no scenario. */
export type FaultClaims = { readonly emu?: AskedByToken };

/**
 * Creates the claim `emu` for a token that is about to be signed. Throws `bad_request` if a fault is invalid, because
 * the service would refuse every request with such a token. `where` says in error messages where the faults were given.
 */
export function faultClaims(
  { faults, scenario }: AskedByToken,
  { where, operations }: { readonly where: string; readonly operations: readonly FaultedOperation[] },
): FaultClaims {
  if (faults === undefined && scenario === undefined) return {};
  if (scenario !== undefined) readScenarioName(scenario, 'scenario');
  if (faults && faults.length > FAULT_LIMITS.perRequest) {
    throw problem('bad_request', `${where}: at most ${FAULT_LIMITS.perRequest} faults are allowed for one request.`);
  }
  for (const given of faults ?? []) {
    compileFault(readWritten(given, where).fault, { where, now: 0, operations, inBand: 'claim' });
  }
  return { emu: { ...(faults && { faults }), ...(scenario !== undefined && { scenario }) } };
}

const CLAIM = 'The claim emu';

/**
 * Parses the claim `emu` of a verified token, such as `{"faults": ["rate_limited*2", {"do": …}], "scenario": "s1"}`.
 * Throws `bad_request` if the claim is invalid.
 */
export function readClaim(emu: unknown): {
  readonly written: readonly WrittenFault[];
  readonly scenario: string | undefined;
} {
  if (!isObject(emu)) throw problem('bad_request', `${CLAIM} must be an object with the members faults and scenario.`);
  const { faults = [], scenario, ...others } = emu;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw problem(
      'bad_request',
      `${CLAIM} has the unknown member ${JSON.stringify(unknown)}. Its members are faults and scenario.`,
    );
  }
  if (!Array.isArray(faults) || faults.length > FAULT_LIMITS.perRequest) {
    throw problem('bad_request', `${CLAIM}: faults must be an array of at most ${FAULT_LIMITS.perRequest} faults.`);
  }
  return {
    written: faults.map((fault, index) => readWritten(fault, `${CLAIM}: faults.${index}`)),
    scenario: scenario === undefined ? undefined : readScenarioName(scenario, `${CLAIM}: scenario`),
  };
}

export function readScenarioName(value: unknown, where: string): string {
  if (typeof value === 'string' && SCENARIO.test(value)) return value;
  throw problem('bad_request', `${where}: the name of a scenario may contain only letters, digits, _, ., :, / and -.`);
}
