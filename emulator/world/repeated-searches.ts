import type { StatePart } from './state-part.js';

/** Maximum number of digests that are kept. If it is exceeded, the least recently used digest is evicted. */
const MAX_SEARCHES = 10_000;

/** Digests of earlier search requests. The response to a repeated search says so in its header `X-Cache`. */
export class RepeatedSearches implements StatePart<ReadonlySet<string>> {
  /** Digests in the order in which they were last used, the least recently used first. */
  private digests = new Set<string>();

  /** Records a search request by its digest. Returns true if the same search was recorded before. */
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
