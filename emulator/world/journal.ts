import type { StatePart } from './state-part.js';

/** What happened to one request, in the order the chain decided it. Holds no token, header or body. */
export interface JournalEntry {
  readonly id: string;
  /** ISO 8601, on the world's clock. */
  readonly at: string;
  readonly organization: string | undefined;
  readonly method: string;
  /** The request target without its query. */
  readonly path: string;
  readonly operation: string | undefined;
  readonly repository: string | undefined;
  readonly subject: string | undefined;
  readonly status: number;
  readonly code: string | undefined;
  /** `real`: the service as it is. `state`: a repository's state refused. `injected:<fault>`: asked for. */
  readonly origin: string;
  /** Why: one short sentence per decision worth knowing. */
  readonly why: readonly string[];
}

/** The last requests, oldest first, bounded. */
export class Journal implements StatePart<readonly JournalEntry[]> {
  /** A ring once it is full; `start` is the oldest. */
  private ring: JournalEntry[] = [];
  private start = 0;

  constructor(private readonly capacity: number) {}

  add(entry: JournalEntry): void {
    if (this.ring.length < this.capacity) this.ring.push(entry);
    else {
      this.ring[this.start] = entry;
      this.start = (this.start + 1) % this.capacity;
    }
  }

  *entries(): IterableIterator<JournalEntry> {
    for (let at = 0; at < this.ring.length; at++) yield this.ring[(this.start + at) % this.ring.length]!;
  }

  snapshot(): readonly JournalEntry[] {
    return [...this.entries()];
  }

  restore(entries: readonly JournalEntry[]): void {
    this.ring = [...entries];
    this.start = 0;
  }
}
