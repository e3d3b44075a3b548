import type { ClientVerdict } from '@emulator/admin/verify.js';

/** Client rules of the specification that requests broke. */
export interface Findings {
  /** Ids of the rules that a request broke, by the id of the request. */
  readonly rulesOf: ReadonlyMap<string, readonly string[]>;
  /** Number of rules that were broken. */
  readonly broken: number;
  /** True if the emulator named only the first requests that broke a rule. */
  readonly isPartial: boolean;
}

export function findingsOf(verdicts: readonly ClientVerdict[]): Findings {
  const rulesOf = new Map<string, readonly string[]>();
  for (const { rule, faults } of verdicts) {
    for (const { request } of faults) {
      const rules = rulesOf.get(request) ?? [];
      if (!rules.includes(rule)) rulesOf.set(request, [...rules, rule]);
    }
  }
  return {
    rulesOf,
    broken: verdicts.filter(({ verdict }) => verdict === 'broken').length,
    isPartial: verdicts.some(({ faults, clients }) => faults.length < sumOf(clients.map(({ broken }) => broken))),
  };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
