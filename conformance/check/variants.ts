import { AssertionFailure } from './outcomes.js';

/**
 * Which of the tolerated answers a target gives where the specification contradicts itself or is silent. A target
 * may choose, but has to stay with its choice: another member later in the same run is a failure.
 */
export class Variants {
  readonly #seen = new Map<string, { member: string; rule: string }>();

  /** `pinned`: members recorded by an earlier run against the same target, by key. */
  constructor(readonly pinned: ReadonlyMap<string, string> = new Map()) {}

  /** Records a member under `A01 grep` and the like. Throws when it contradicts what was seen before. */
  record(key: string, member: string, rule: string): void {
    const pinned = this.pinned.get(key);
    if (pinned !== undefined && pinned !== member) {
      throw new AssertionFailure(`${key}: the target still answers as its pinned profile says`, pinned, member);
    }
    const earlier = this.#seen.get(key);
    if (earlier === undefined) this.#seen.set(key, { member, rule });
    else if (earlier.member !== member) {
      throw new AssertionFailure(
        `${key}: the target gives one answer throughout (see ${earlier.rule})`,
        earlier.member,
        member,
      );
    }
  }

  entries(): Record<string, string> {
    return Object.fromEntries([...this.#seen].sort().map(([key, { member }]) => [key, member]));
  }
}
