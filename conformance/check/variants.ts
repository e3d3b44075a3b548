import { AssertionFailure, PinnedDrift } from './outcomes.js';

/**
 * Records which variant a target uses where the specification contradicts itself or is silent. The target may use any
 * permitted variant, but must always use the same one. A second variant within one rule fails the rule at once.
 * Contradictions between rules are detected after all rules were checked, so that the verdicts do not depend on the
 * order of the rules.
 */
export class Variants {
  /** Observed variants by rule id, and then by key (unclear point of the specification, such as `A01 grep`). */
  readonly #seen = new Map<string, Map<string, string>>();

  /**
   * `pinned`: variants that an earlier run against the same target recorded, by key. They come from the target file.
   */
  constructor(readonly pinned: ReadonlyMap<string, string> = new Map()) {}

  /**
   * Records the variant (`member`) that a rule observed for a key such as `A01 grep`, which names an unclear point of
   * the specification. Throws `PinnedDrift` if the target file records another variant, and `AssertionFailure` if the
   * rule has already observed another one.
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

  /** Returns the variants that a rule observed, by key; undefined if none. */
  of(rule: string): Readonly<Record<string, string>> | undefined {
    const seen = this.#seen.get(rule);
    return seen && Object.fromEntries([...seen].sort());
  }

  /**
   * Removes the variants that a rule observed and returns them; undefined if none. Called before a rule is checked
   * again, because the second check records its own variants.
   */
  take(rule: string): ReadonlyMap<string, string> | undefined {
    const seen = this.#seen.get(rule);
    this.#seen.delete(rule);
    return seen;
  }

  /** Restores variants that `take` returned, and drops those that the rule recorded since. */
  put(rule: string, seen: ReadonlyMap<string, string> | undefined): void {
    if (seen === undefined) this.#seen.delete(rule);
    else this.#seen.set(rule, new Map(seen));
  }
}
