import { AssertionFailure, PinnedDrift } from './outcomes.js';

/**
 * Records which tolerated variant a target uses where the specification contradicts itself or is silent. A target may
 * use any variant, but must use it consistently. A second variant within a rule fails at once. A contradiction between
 * rules is found after all rules were checked, so that the result does not depend on their order.
 */
export class Variants {
  /** Observed member by key, for each rule. */
  readonly #seen = new Map<string, Map<string, string>>();

  /** `pinned`: members recorded by an earlier run against the same target, by key. */
  constructor(readonly pinned: ReadonlyMap<string, string> = new Map()) {}

  /** Records a member under a key such as `A01 grep`. Throws if the key has another member already. */
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

  /** Returns the recorded members of a rule, by key; undefined if none. */
  of(rule: string): Readonly<Record<string, string>> | undefined {
    const seen = this.#seen.get(rule);
    return seen && Object.fromEntries([...seen].sort());
  }

  /** Removes and returns the recorded members of a rule, so that the rule can be retried. */
  take(rule: string): ReadonlyMap<string, string> | undefined {
    const seen = this.#seen.get(rule);
    this.#seen.delete(rule);
    return seen;
  }

  /** Restores members that `take` removed. */
  put(rule: string, seen: ReadonlyMap<string, string> | undefined): void {
    if (seen === undefined) this.#seen.delete(rule);
    else this.#seen.set(rule, new Map(seen));
  }
}
