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

/** An entry as it is kept: its time is written out when it is read, which for most requests is never. */
export type JournalRecord = Omit<JournalEntry, 'at'> & {
  /** Milliseconds on the world's clock. */
  readonly time: number;
};

export function journalEntry({ time, id, ...rest }: JournalRecord): JournalEntry {
  return { id, at: new Date(time).toISOString(), ...rest };
}

/** The last requests, oldest first, bounded. */
export class Journal implements StatePart<readonly JournalRecord[]> {
  /** A ring once it is full; `start` is the oldest. */
  private ring: JournalRecord[] = [];
  private start = 0;

  constructor(private readonly capacity: number) {}

  add(record: JournalRecord): void {
    if (this.ring.length < this.capacity) this.ring.push(record);
    else {
      this.ring[this.start] = record;
      this.start = (this.start + 1) % this.capacity;
    }
  }

  *entries(): IterableIterator<JournalEntry> {
    for (const record of this.records()) yield journalEntry(record);
  }

  snapshot(): readonly JournalRecord[] {
    return [...this.records()];
  }

  private *records(): IterableIterator<JournalRecord> {
    for (let at = 0; at < this.ring.length; at++) yield this.ring[(this.start + at) % this.ring.length]!;
  }

  restore(records: readonly JournalRecord[]): void {
    this.ring = [...records];
    this.start = 0;
  }
}
