import { COST } from '../schedule/cost.js';
import { beganAfterEnd, type RequestRecord } from './record.js';

/**
 * Compares two requests by the rule for retries:
 *
 *     `retryOf` is the last earlier request of the same client, operation, method, target and body
 *     that failed: its response was an error, or did not reach the client completely.
 *     Its response ended before the later request began. Otherwise the two are concurrent.
 *     No repetition had already succeeded when the later request began.
 *
 * - A client is an organization together with the `sub` and `repo` claims of the token, verified or not.
 * - The target is the path and the query as sent.
 * - Bodies are equal if their lengths and their first 64 KiB are equal.
 * - Git bodies are equal if their command, wants and haves, or their ref updates, are equal. Their packs are not
 *   compared, because two packs of the same objects may differ.
 * - If a body was not read because the request was refused earlier, only the Content-Length is compared.
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
  /** First successful repetition; undefined if none. Requests that begin after its end are not retries. */
  success: RequestRecord | undefined;
}

/**
 * Maximum number of stored failed requests with the same target. They differ only in their bodies, and each new request
 * is compared with them.
 */
const MAX_EQUAL_TARGETS = 32;

/**
 * Index of failed requests, used to recognize retries. Requests must be added in the order in which their responses
 * ended. The cost of each search is added to `work`.
 */
export class RetryIndex {
  /**
   * Failed requests by path and then by target key, oldest first. The target key contains everything that retries have
   * in common except the body.
   */
  private readonly failed = new Map<string, Map<string, readonly FailedRequest[]>>();

  constructor(private readonly work: WorkDone = { units: 0 }) {}

  /**
   * Returns the earlier failed request that this request repeats; undefined if none. If this request failed too, adds
   * it to the index. Its response must have ended.
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
      const added = { record, body, success: undefined };
      this.failed.set(record.path, targets.set(key, [...candidates.slice(1 - MAX_EQUAL_TARGETS), added]));
    } else if (earlier) {
      for (const other of candidates) if (isRepetition(record, body, other)) other.success ??= record;
    }
    return earlier;
  }

  /**
   * Returns the earlier request that this request repeats; undefined if none. Does not add this request to the index.
   */
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

/**
 * Returns the failed request that this request repeats; undefined if none. If several match, returns the one that began
 * last.
 */
function findEqual(
  record: RequestRecord,
  body: SentBody,
  candidates: readonly FailedRequest[],
): RequestRecord | undefined {
  let found: RequestRecord | undefined;
  for (const other of candidates) {
    if (found && other.record.started < found.started) continue;
    if (isRepetition(record, body, other)) found = other.record;
  }
  return found;
}

/** Returns true if `record` is a retry of the failed request. `body` is the body of `record`. */
function isRepetition(record: RequestRecord, body: SentBody, { record: failed, body: other, success }: FailedRequest) {
  if (success && beganAfterEnd(record, success)) return false;
  return beganAfterEnd(record, failed) && isSameBody(other, body);
}

/** Returns the value of a request header field; undefined if absent. `name` is in lower case. */
export function fieldOf({ head: { fields } }: RequestRecord, name: string): string | undefined {
  for (let at = 0; at < fields.length; at += 2) if (fields[at]!.toLowerCase() === name) return fields[at + 1];
  return undefined;
}

function targetKey({ organization, method, path, query, operation, token }: RequestRecord): string {
  const client = token ? `${token.subject ?? ''}\n${token.repository ?? ''}` : '';
  return `${organization}\0${client}\0${operation}\0${method}\0${path}?${query}`;
}

/** Facts about a request body that decide whether two bodies are equal. */
interface SentBody {
  /** Beginning of the body, or the facts about a Git body. Undefined if the body was not read. */
  readonly content: string | undefined;
  readonly bytes: number;
  /** Value of the Content-Length header; undefined if absent. */
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
    // Compares the facts in a Git body instead of its bytes, because two packs of the same objects may differ.
    return { content, bytes: 0, length };
  }
  if (body) return { content: body.digest ?? body.latin1, bytes: body.bytes, length };
  const isEmpty = (length ?? '0') === '0' && fieldOf(record, 'transfer-encoding') === undefined;
  return { content: isEmpty ? '' : undefined, bytes: 0, length };
}

/**
 * Units of CPU work since the last yield to other requests (see the folder `schedule`). Code that works adds units, and
 * code that yields resets them.
 */
export interface WorkDone {
  units: number;
}

/** Number of units of CPU work after which a generator should yield, so that other requests can run. */
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
