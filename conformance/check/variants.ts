import { AssertionFailure, PinnedDrift } from './outcomes.js';

/**
 * Records which variant a target uses where the specification contradicts itself or is silent. The target may use any
 * permitted variant, but must always use the same one. A second variant within one rule fails the rule at once.
 * Contradictions between rules are detected after all rules, so the verdicts do not depend on the order of the rules.
 */
export class Variants {
  /**
   * Observed variants by rule id, then by key. A key such as `A01 grep` names an unclear point of the specification.
   */
  readonly #seen = new Map<string, Map<string, string>>();

  /** `pinned`: variants by key that the target file records. An earlier run against the same target observed them. */
  constructor(readonly pinned: ReadonlyMap<string, string> = new Map()) {}

  /**
   * Records the variant (`member`) that a rule observed. `key` names an unclear point of the specification, such as
   * `A01 grep`. Throws `PinnedDrift` if the target file records another variant. Throws `AssertionFailure` if the rule
   * has already observed another variant.
   */
  record(key: string, member: string, rule: string): void {
    const pinned = this.pinned.get(key);
    if (pinned !== undefined && pinned !== member) {
      throw new PinnedDrift(`${key}: must be what the target file says`, pinned, member);
    }
    const seen = this.#seen.get(rule) ?? new Map<string, string>();
    this.#seen.set(rule, seen);
    const earlier = seen.get(key);
    if (earlier === undefined) seen.set(key, member);
    else if (earlier !== member) {
      throw new AssertionFailure(`${key}: must be the same in all responses`, earlier, member);
    }
  }

  /** Returns the variants that a rule observed, by key. Undefined if none. */
  of(rule: string): Readonly<Record<string, string>> | undefined {
    const seen = this.#seen.get(rule);
    return seen && Object.fromEntries([...seen].sort());
  }

  /**
   * Removes the variants that a rule observed and returns them; undefined if none. Called before a repeated check of a
   * rule, because the repeated check records its own variants.
   */
  take(rule: string): ReadonlyMap<string, string> | undefined {
    const seen = this.#seen.get(rule);
    this.#seen.delete(rule);
    return seen;
  }

  /** Restores the variants that `take` returned. Drops those that the rule has recorded since. */
  put(rule: string, seen: ReadonlyMap<string, string> | undefined): void {
    if (seen === undefined) this.#seen.delete(rule);
    else this.#seen.set(rule, new Map(seen));
  }
}
