import type { StatePart } from './state-part.js';

/** Searches remembered; beyond it the one that was asked for least recently is forgotten. */
const MAX_SEARCHES = 10_000;

/** Digests of searches that were answered before: what `X-Cache` tells clients. */
export class RepeatedSearches implements StatePart<ReadonlySet<string>> {
  /** In order of use. */
  private digests = new Set<string>();

  /** Whether the same search was answered before; remembers this one. */
  note(digest: string): boolean {
    const isKnown = this.digests.delete(digest);
    this.digests.add(digest);
    if (this.digests.size > MAX_SEARCHES) this.digests.delete(this.digests.values().next().value!);
    return isKnown;
  }

  snapshot(): ReadonlySet<string> {
    return new Set(this.digests);
  }

  restore(digests: ReadonlySet<string>): void {
    this.digests = new Set(digests);
  }
}
