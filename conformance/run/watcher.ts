import type { Evidence, Exchange } from '../http/exchange.js';
import type { Rule } from '../rules/rule.js';

export interface WatchResult {
  /** Number of exchanges that the rule applied to. */
  checked: number;
  /** `injected` if one of them was made by an injected fault. */
  evidence: Evidence;
  broken: { readonly why: string; readonly exchange: Exchange } | undefined;
}

/**
 * Checks every exchange of the run with the watching rules. If several exchanges break a rule, it keeps the one from
 * the rule whose id comes first, so that the result does not depend on the order of the run.
 */
export class Watcher {
  readonly #results = new Map<string, WatchResult>();

  constructor(readonly rules: readonly Rule[]) {
    for (const rule of rules) this.#results.set(rule.id, { checked: 0, evidence: 'observed', broken: undefined });
  }

  /**
   * Checks one exchange. Only rules of reach `emulator` see a response made by an injected fault, because it does not
   * show ordinary behaviour.
   */
  see(exchange: Exchange): void {
    for (const rule of this.rules) {
      if (exchange.injected && rule.reach !== 'emulator') continue;
      const verdict = rule.watch?.(exchange);
      if (verdict === undefined) continue;
      const result = this.of(rule.id);
      result.checked += 1;
      if (exchange.injected) result.evidence = 'injected';
      if (verdict === true) continue;
      const { broken } = result;
      if (broken === undefined || exchange.rule < broken.exchange.rule) result.broken = { why: verdict, exchange };
    }
  }

  of(id: string): WatchResult {
    return this.#results.get(id) ?? { checked: 0, evidence: 'observed', broken: undefined };
  }
}
