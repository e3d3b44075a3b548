import type { StatePart } from './state-part.js';

/** Maximum number of digests that are kept. Above it, the least recently used digest is dropped. */
const MAX_SEARCHES = 10_000;

/** Digests of earlier search requests. With them, the response to a repeated search says so in its header `X-Cache`. */
export class RepeatedSearches implements StatePart<ReadonlySet<string>> {
  /** Digests in order of their last use, the least recently used first. */
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
