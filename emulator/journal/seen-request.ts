import { COST } from '../schedule/cost.js';
import type { Steps } from '../schedule/steps.js';
import { type ShownBody, shownRequestBody, shownResponseBody } from './entry.js';
import { fieldOf, isSameRequest, isStep, Lineage, take, type WorkDone } from './lineage.js';
import { endOf, type RequestRecord } from './record.js';

/** Units of a byte of a body that is decoded, searched for secrets and read as JSON. */
const BYTE_READ = 1 / 32;

/** A request as it is evaluated. What looking at it costs is added to `work`. */
export class SeenRequest {
  /** Whether a later one repeats it. */
  isRepeated = false;
  private shownCode: string | undefined | null = null;

  constructor(
    readonly record: RequestRecord,
    readonly retryOf: SeenRequest | undefined,
    private readonly work: WorkDone,
  ) {}

  /** A field of the request, by its lower-case name. */
  header(name: string): string | undefined {
    this.work.units += this.record.head.fields.length * COST.line;
    return fieldOf(this.record, name);
  }

  /** Milliseconds on the world's clock: when it began, and when its answer had ended. */
  get began(): number {
    return this.record.time - this.record.took;
  }

  get answered(): number {
    return this.record.time + this.record.sendTime;
  }

  /** Milliseconds that the answer asks its client to wait; undefined where it does not. RFC 9110, 10.2.3. */
  get retryAfter(): number | undefined {
    const field = this.answerHeader('retry-after');
    if (field === undefined) return undefined;
    if (/^\d+$/.test(field)) return Number(field) * 1000;
    const date = Date.parse(field);
    return Number.isNaN(date) ? undefined : Math.max(0, date - this.answered);
  }

  /** The code of an answer; of one that a fault worded, what it shows. */
  get code(): string | undefined {
    if (this.record.status < 400) return undefined;
    if (this.shownCode === null) {
      const { code } = (this.answerJson ?? {}) as { code?: unknown };
      this.shownCode = typeof code === 'string' ? code : this.record.code;
    }
    return this.shownCode;
  }

  /** The beginning of the request's body, a character for each byte. */
  get bodyText(): string {
    const text = this.record.body?.latin1 ?? '';
    this.work.units += text.length * BYTE_READ;
    return text;
  }

  /** The JSON of the request's body, if it is that as a whole. */
  get json(): unknown {
    return this.parse(shownRequestBody(this.record));
  }

  get answerJson(): unknown {
    return this.parse(shownResponseBody(this.record));
  }

  /** Whether it asks for the same with the same body. */
  isSameAs(other: SeenRequest): boolean {
    this.work.units += (this.record.body?.weight ?? 0) * COST.byteFound;
    return isSameRequest(other.record, this.record);
  }

  private answerHeader(wanted: string): string | undefined {
    const fields = Object.entries(this.record.answerHead ?? {});
    this.work.units += fields.length * COST.line;
    const value = fields.find(([name]) => name.toLowerCase() === wanted)?.[1];
    return value === undefined ? undefined : String([value].flat()[0]);
  }

  private parse(body: ShownBody | undefined): unknown {
    this.work.units += (body?.text.length ?? 0) * BYTE_READ;
    if (!body || body.truncated || body.encoding !== 'utf8') return undefined;
    try {
      return JSON.parse(body.text);
    } catch {
      return undefined;
    }
  }
}

/** Requests in the order in which they were answered, each with the one that it repeats. */
export function* seenSteps(records: Iterable<RequestRecord>, work: WorkDone): Steps<SeenRequest[]> {
  const lineage = new Lineage(work);
  const byId = new Map<string, SeenRequest>();
  for (const record of records) {
    const earlier = lineage.next(record);
    const retryOf = earlier && byId.get(earlier.id);
    if (retryOf) retryOf.isRepeated = true;
    byId.set(record.id, new SeenRequest(record, retryOf, work));
    work.units += COST.object;
    if (isStep(work)) yield take(work);
  }
  return [...byId.values()];
}

/** Compares requests by when they began, for sorting. */
export function byBegin({ record: a }: SeenRequest, { record: b }: SeenRequest): number {
  return a.started - b.started || (a.id < b.id ? -1 : 1);
}

/**
 * Milliseconds from the end of the answer to one request to the beginning of a later one, on the world's clock or in real
 * time, whichever is more: a client that waits cannot see a clock that stands still, and one whose clock is moved for it
 * does not wait. Negative if the later request began before that end.
 */
export function pauseBetween(earlier: SeenRequest, later: SeenRequest): number {
  return Math.max(later.began - earlier.answered, later.record.started - endOf(earlier.record));
}
