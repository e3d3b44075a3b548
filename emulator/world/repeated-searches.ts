import type { StatePart } from './state-part.js';

/** Maximum number of searches. Beyond it, the least recently used one is evicted. */
const MAX_SEARCHES = 10_000;

/** Digests of earlier searches, for the `X-Cache` header. */
export class RepeatedSearches implements StatePart<ReadonlySet<string>> {
  /** Digests in order of use, the least recently used first. */
  private digests = new Set<string>();

  /** Records a search. Returns true if the same search was made before. */
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
