import { AssertionFailure, PinnedDrift } from './outcomes.js';

/**
 * Which of the tolerated answers a target gives where the specification contradicts itself or is silent. A target may
 * choose, but has to stay with its choice. Within a rule another member is a failure at once; between rules it is found
 * when all were checked, so that it does not matter which of them was first.
 */
export class Variants {
  /** By rule: key to member. */
  readonly #seen = new Map<string, Map<string, string>>();

  /** `pinned`: members recorded by an earlier run against the same target, by key. */
  constructor(readonly pinned: ReadonlyMap<string, string> = new Map()) {}

  /** Records a member under `A01 grep` and the like. Throws when it contradicts what was seen before. */
  record(key: string, member: string, rule: string): void {
    const pinned = this.pinned.get(key);
    if (pinned !== undefined && pinned !== member) {
      throw new PinnedDrift(`${key}: the target still answers as its target file says`, pinned, member);
    }
    const seen = this.#seen.get(rule) ?? new Map<string, string>();
    this.#seen.set(rule, seen);
    const earlier = seen.get(key);
    if (earlier === undefined) seen.set(key, member);
    else if (earlier !== member) {
      throw new AssertionFailure(`${key}: the target gives one answer throughout`, earlier, member);
    }
  }

  /** What a rule recorded, by key. */
  of(rule: string): Readonly<Record<string, string>> | undefined {
    const seen = this.#seen.get(rule);
    return seen && Object.fromEntries([...seen].sort());
  }

  /** Takes what a rule recorded, so that it can be tried again. */
  take(rule: string): ReadonlyMap<string, string> | undefined {
    const seen = this.#seen.get(rule);
    this.#seen.delete(rule);
    return seen;
  }

  /** Puts back what was taken. */
  put(rule: string, seen: ReadonlyMap<string, string> | undefined): void {
    if (seen === undefined) this.#seen.delete(rule);
    else this.#seen.set(rule, new Map(seen));
  }
}
