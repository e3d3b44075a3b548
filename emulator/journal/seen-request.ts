import { type JournalEntry, writeEntry } from './entry.js';
import { headerOf } from './export.js';
import { fieldOf, Lineage } from './lineage.js';
import type { RequestRecord } from './record.js';

/** A request as it is evaluated. It is written out when a rule looks closer. */
export class SeenRequest {
  private written: JournalEntry | undefined;

  constructor(
    readonly record: RequestRecord,
    readonly retryOf: SeenRequest | undefined,
  ) {}

  get entry(): JournalEntry {
    this.written ??= writeEntry(this.record, this.retryOf?.record.id);
    return this.written;
  }

  /** A field of the request, by its lower-case name. */
  header(name: string): string | undefined {
    return fieldOf(this.record, name);
  }

  /** A field of the answer. */
  answerHeader(name: string): string | undefined {
    return this.record.answerHead && headerOf(this.entry.answer, name);
  }

  /** Milliseconds on the world's clock: when it began, and when it was answered. */
  get began(): number {
    return this.record.time - this.record.took;
  }

  get answered(): number {
    return this.record.time;
  }

  /** Milliseconds that the answer asks its client to wait; undefined where it does not. RFC 9110, 10.2.3. */
  get retryAfter(): number | undefined {
    const field = this.answerHeader('retry-after');
    if (field === undefined) return undefined;
    if (/^\d+$/.test(field)) return Number(field) * 1000;
    const date = Date.parse(field);
    return Number.isNaN(date) ? undefined : Math.max(0, date - this.answered);
  }

  /** The JSON of the request's body, if it is that as a whole. */
  get json(): unknown {
    return parse(this.entry.request.body);
  }

  get answerJson(): unknown {
    return parse(this.entry.answer.body);
  }
}

function parse(body: JournalEntry['request']['body']): unknown {
  if (!body || body.truncated || body.encoding !== 'utf8') return undefined;
  try {
    return JSON.parse(body.text);
  } catch {
    return undefined;
  }
}

/** Requests in the order in which they were answered, each with the one that it repeats. */
export function seenRequests(records: Iterable<RequestRecord>): SeenRequest[] {
  const lineage = new Lineage();
  const byId = new Map<string, SeenRequest>();
  for (const record of records) {
    const retryOf = lineage.next(record);
    byId.set(record.id, new SeenRequest(record, retryOf && byId.get(retryOf.id)));
  }
  return [...byId.values()];
}

/**
 * Milliseconds from the answer to one request to the beginning of a later one, on the world's clock or in real time,
 * whichever is more: a client that waits cannot see a clock that stands still, and one whose clock is moved for it does
 * not wait.
 */
export function pauseBetween(earlier: SeenRequest, later: SeenRequest): number {
  const real = later.record.started - (earlier.record.started + earlier.record.micros / 1000);
  return Math.max(later.began - earlier.answered, real, 0);
}
