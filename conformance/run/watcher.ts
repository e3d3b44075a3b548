import type { Evidence, Exchange } from '../http/exchange.js';
import type { Rule } from '../rules/rule.js';

export interface WatchResult {
  /** Number of exchanges (requests with their responses) to which the rule applied. */
  checked: number;
  /** `injected` if a fault made or changed the response of at least one of these exchanges, otherwise `observed`. */
  evidence: Evidence;
  broken: { readonly why: string; readonly exchange: Exchange } | undefined;
}

/**
 * Passes each exchange (request and response) of the run to all watching rules. A watching rule judges exchanges of
 * other rules. If several exchanges break a rule, the one from the rule whose id sorts first is kept, because the order
 * of exchanges differs between runs.
 */
export class Watcher {
  readonly #results = new Map<string, WatchResult>();

  constructor(readonly rules: readonly Rule[]) {
    for (const rule of rules) this.#results.set(rule.id, { checked: 0, evidence: 'observed', broken: undefined });
  }

  /**
   * Passes one exchange to the watching rules. If a fault made the response, only rules of reach `emulator` judge it,
   * because it does not show the target's ordinary behaviour.
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
