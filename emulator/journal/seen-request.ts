import { COST } from '../schedule/cost.js';
import type { Steps } from '../schedule/steps.js';
import { type ShownBody, shownRequestBody, shownResponseBody } from './entry.js';
import { endOf, type RequestRecord } from './record.js';
import { fieldOf, isSameRequest, RetryIndex, shouldYield, takeUnits, type WorkDone } from './retry-index.js';

/** Cost per byte of a body that is decoded, searched for secrets and parsed as JSON, in units of CPU work. */
const BYTE_READ = 1 / 32;

/**
 * A recorded request, with facts derived from it that expectations and client rules check. Each fact is computed when
 * it is read, and its cost is added to `work`.
 */
export class SeenRequest {
  /** True if a later request repeats this request, as a retry. */
  isRepeated = false;
  private shownCode: string | undefined | null = null;

  constructor(
    readonly record: RequestRecord,
    readonly retryOf: SeenRequest | undefined,
    private readonly work: WorkDone,
  ) {}

  /** Returns the value of a request header field; undefined if absent. `name` is in lower case. */
  header(name: string): string | undefined {
    this.work.units += this.record.head.fields.length * COST.line;
    return fieldOf(this.record, name);
  }

  /** Start of the request, in milliseconds on the emulator's clock. */
  get startTime(): number {
    return this.record.time - this.record.took;
  }

  /** End of the response, in milliseconds on the emulator's clock. */
  get endTime(): number {
    return this.record.time + this.record.sendTime;
  }

  /**
   * Delay that the `Retry-After` field of the response demands, in milliseconds (RFC 9110, section 10.2.3). Undefined
   * if absent or invalid.
   */
  get retryAfter(): number | undefined {
    const field = this.responseHeader('retry-after');
    if (field === undefined) return undefined;
    if (/^\d+$/.test(field)) return Number(field) * 1000;
    const date = Date.parse(field);
    return Number.isNaN(date) ? undefined : Math.max(0, date - this.endTime);
  }

  /**
   * Error code of the response as the client sees it, even if the body was injected. Undefined if the response has no
   * error code.
   */
  get code(): string | undefined {
    if (this.record.status < 400) return undefined;
    if (this.shownCode === null) {
      const { code } = (this.responseJson ?? {}) as { code?: unknown };
      this.shownCode = typeof code === 'string' ? code : this.record.code;
    }
    return this.shownCode;
  }

  /** Stored beginning of the request body, as a Latin-1 string with one character per byte. */
  get bodyText(): string {
    const text = this.record.body?.latin1 ?? '';
    this.work.units += text.length * BYTE_READ;
    return text;
  }

  /** Request body parsed as JSON. Undefined if it is not JSON or was not stored completely. */
  get json(): unknown {
    return this.parse(shownRequestBody(this.record));
  }

  get responseJson(): unknown {
    return this.parse(shownResponseBody(this.record));
  }

  /**
   * Returns true if the other request has the same target and body. `retry-index.ts` defines when they are the same.
   */
  isSameAs(other: SeenRequest): boolean {
    this.work.units += (this.record.body?.weight ?? 0) * COST.byteFound;
    return isSameRequest(other.record, this.record);
  }

  private responseHeader(wanted: string): string | undefined {
    const fields = Object.entries(this.record.responseHeaders ?? {});
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

/**
 * Returns the requests in the order in which their responses were decided. Each is linked to the earlier request that
 * it repeats.
 */
export function* seenSteps(records: Iterable<RequestRecord>, work: WorkDone): Steps<SeenRequest[]> {
  const retryIndex = new RetryIndex(work);
  const byId = new Map<string, SeenRequest>();
  for (const record of records) {
    const earlier = retryIndex.next(record);
    const retryOf = earlier && byId.get(earlier.id);
    if (retryOf) retryOf.isRepeated = true;
    byId.set(record.id, new SeenRequest(record, retryOf, work));
    work.units += COST.object;
    if (shouldYield(work)) yield takeUnits(work);
  }
  return [...byId.values()];
}

/** Compares two requests by start time, for sorting. */
export function byBegin({ record: a }: SeenRequest, { record: b }: SeenRequest): number {
  return a.started - b.started || (a.id < b.id ? -1 : 1);
}

/**
 * Returns the pause between the end of a response and the start of a later request, in milliseconds. Negative if the
 * request began before that end.
 *
 * The pause is measured on the emulator's clock and in real time, and the longer value counts. A client that really
 * waits does not notice that a test has stopped the clock. A client does not wait in real time if a test advances the
 * clock for it.
 */
export function pauseBetween(earlier: SeenRequest, later: SeenRequest): number {
  return Math.max(later.startTime - earlier.endTime, later.record.started - endOf(earlier.record));
}
