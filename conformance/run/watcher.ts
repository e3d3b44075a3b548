import type { Evidence, Exchange } from '../http/exchange.js';
import type { Rule } from '../rules/rule.js';

export interface WatchResult {
  /** Exchanges the rule had something to say about. */
  checked: number;
  /** Whether one of them was made by a fault. */
  evidence: Evidence;
  broken: { readonly why: string; readonly exchange: Exchange } | undefined;
}

/**
 * Checks every exchange of the run by the rules that watch. Of exchanges that break one it keeps that of the rule whose
 * id comes first, so that the order of the run does not matter.
 */
export class Watcher {
  readonly #results = new Map<string, WatchResult>();

  constructor(readonly rules: readonly Rule[]) {
    for (const rule of rules) this.#results.set(rule.id, { checked: 0, evidence: 'observed', broken: undefined });
  }

  /** What a fault made says nothing about how a target behaves: only rules of reach `emulator` look at it. */
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
