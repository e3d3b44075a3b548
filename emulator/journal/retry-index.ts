import { COST } from '../schedule/cost.js';
import { beganAfterEnd, type RequestRecord } from './record.js';

/**
 * Compares two requests by the rule for retries:
 *
 *     `retryOf` is the last earlier request of the same client, operation, method, target and body
 *     that failed: its response was an error, or did not reach the client completely.
 *     Its response ended before the later request began. Otherwise the two are concurrent.
 *
 * The client is the organization with the `sub` and `repo` claims of the token, verified or not. The target is the path
 * and the query as sent. Bodies are equal if their lengths and their first 64 KiB are equal. Git bodies are equal if
 * they request the same: the command, wants and haves, or the ref updates, because two packs of the same objects may
 * differ. If a body was not read because the request was refused earlier, only the Content-Length is compared.
 */
export function isSameRequest(a: RequestRecord, b: RequestRecord): boolean {
  return targetKey(a) === targetKey(b) && isSameBody(sentBodyOf(a), sentBodyOf(b));
}

export function hasFailed({ status, outcome }: RequestRecord): boolean {
  return status >= 400 || outcome === 'cut' || outcome === 'gone';
}

interface FailedRequest {
  readonly record: RequestRecord;
  readonly body: SentBody;
}

/**
 * Maximum number of failed requests with the same target that are stored and compared. They differ only in their
 * bodies.
 */
const MAX_EQUAL_TARGETS = 32;

/**
 * Index of failed requests, with which retries are recognized. Requests must be added in the order in which their
 * responses ended. The cost of each search is added to `work`.
 */
export class RetryIndex {
  /** Failed requests by path, then by the target key (everything that retries share except the body), oldest first. */
  private readonly failed = new Map<string, Map<string, readonly FailedRequest[]>>();

  constructor(private readonly work: WorkDone = { units: 0 }) {}

  /**
   * Adds a request whose response has ended to the index if it failed. Returns the earlier failed request that it
   * repeats; undefined if none.
   */
  next(record: RequestRecord): RequestRecord | undefined {
    const isFailed = hasFailed(record);
    const sameTarget = this.failed.get(record.path);
    if (!sameTarget && !isFailed) return undefined;
    const key = targetKey(record);
    const candidates = sameTarget?.get(key) ?? [];
    this.work.units += key.length * COST.byteScanned;
    if (candidates.length === 0 && !isFailed) return undefined;
    const body = sentBodyOf(record);
    this.work.units += (body.content?.length ?? 0) * (COST.byteScanned + candidates.length * COST.byteCopied);
    const earlier = findEqual(record, body, candidates);
    if (isFailed) {
      const targets = sameTarget ?? new Map<string, readonly FailedRequest[]>();
      this.failed.set(record.path, targets.set(key, [...candidates.slice(1 - MAX_EQUAL_TARGETS), { record, body }]));
    }
    return earlier;
  }

  /** Returns the earlier request that this request repeats, without adding it; undefined if none. */
  find(record: RequestRecord): RequestRecord | undefined {
    const candidates = this.failed.get(record.path)?.get(targetKey(record));
    return candidates && findEqual(record, sentBodyOf(record), candidates);
  }

  /** Removes a request from the index. */
  forget(record: RequestRecord): void {
    const targets = this.failed.get(record.path);
    if (!targets || !hasFailed(record)) return;
    const key = targetKey(record);
    const rest = (targets.get(key) ?? []).filter((other) => other.record !== record);
    if (rest.length > 0) targets.set(key, rest);
    else targets.delete(key);
    if (targets.size === 0) this.failed.delete(record.path);
  }
}

/** Returns the matching failed request that began last; undefined if none. */
function findEqual(
  record: RequestRecord,
  body: SentBody,
  candidates: readonly FailedRequest[],
): RequestRecord | undefined {
  let found: RequestRecord | undefined;
  for (const other of candidates) {
    if (found && other.record.started < found.started) continue;
    if (beganAfterEnd(record, other.record) && isSameBody(other.body, body)) found = other.record;
  }
  return found;
}

/** Returns the value of a header field of the request by its lower-case name; undefined if absent. */
export function fieldOf({ head: { fields } }: RequestRecord, name: string): string | undefined {
  for (let at = 0; at < fields.length; at += 2) if (fields[at]!.toLowerCase() === name) return fields[at + 1];
  return undefined;
}

function targetKey({ organization, method, path, query, operation, token }: RequestRecord): string {
  const client = token ? `${token.subject ?? ''}\n${token.repository ?? ''}` : '';
  return `${organization}\0${client}\0${operation}\0${method}\0${path}?${query}`;
}

/** Parts of a request that are compared to find equal bodies. */
interface SentBody {
  /** Beginning of the body, or the facts about a Git body; undefined if the body was not read. */
  readonly content: string | undefined;
  readonly bytes: number;
  /** Content-Length header field; undefined if absent. */
  readonly length: string | undefined;
}

function isSameBody(a: SentBody, b: SentBody): boolean {
  if (a.content !== undefined && b.content !== undefined) return a.bytes === b.bytes && a.content === b.content;
  return a.length === undefined || b.length === undefined || a.length === b.length;
}

function sentBodyOf(record: RequestRecord): SentBody {
  const { git, body } = record;
  const length = fieldOf(record, 'content-length');
  if (git && git.phase === 'rpc' && git.command !== undefined) {
    const { command, wants, haves, updates } = git;
    const changes = updates.map(({ ref, old, new: next }) => [ref, old, next]);
    const content = JSON.stringify([command, [...wants].sort(), [...haves].sort(), changes]);
    // Compares Git bodies by the facts in them and not by their bytes, because two packs of the same objects may
    // differ.
    return { content, bytes: 0, length };
  }
  if (body) return { content: body.digest ?? body.latin1, bytes: body.bytes, length };
  const isEmpty = (length ?? '0') === '0' && fieldOf(record, 'transfer-encoding') === undefined;
  return { content: isEmpty ? '' : undefined, bytes: 0, length };
}

/**
 * Units of work done since the last yield to other requests (see the folder `schedule`). The code that works adds
 * units, and the code that yields resets them.
 */
export interface WorkDone {
  units: number;
}

/** Number of units of work after which a generator yields, so that other requests can run. */
const YIELD_UNITS = 64;

/** Returns true if the generator should yield. Use in a loop: `if (shouldYield(work)) yield takeUnits(work);` */
export function shouldYield({ units }: WorkDone): boolean {
  return units >= YIELD_UNITS;
}

export function takeUnits(work: WorkDone): number {
  const { units } = work;
  work.units = 0;
  return units;
}
