import { COST } from '../schedule/cost.js';
import { isBehind, type RequestRecord } from './record.js';

/**
 * Which request one repeats. The rule:
 *
 *     `retryOf` is the last request before it of the same client, operation, method, target and body
 *     that failed: its answer was an error, or did not reach the client as a whole.
 *     That answer had ended before the request began. Until then the two were concurrent.
 *
 * The client is the organization and the `sub` and `repo` of the token, as the token says them. The target is the path
 * and the query as they were sent. Bodies are the same when they have the same length and the same first 64 KiB; those
 * of Git when they ask for the same: the command, wants and haves, or the updates of refs, since two packs of the same
 * objects may differ. Of a body that was not read, as the request was refused before, only the Content-Length is
 * compared.
 */
export function isSameRequest(a: RequestRecord, b: RequestRecord): boolean {
  return targetKey(a) === targetKey(b) && isSameBody(sentBodyOf(a), sentBodyOf(b));
}

export function hasFailed({ status, outcome }: RequestRecord): boolean {
  return status >= 400 || outcome === 'cut' || outcome === 'gone';
}

interface Failed {
  readonly record: RequestRecord;
  readonly body: SentBody;
}

/** Failed requests for one target, with different bodies, that are looked at. */
const MAX_ALIKE = 32;

/** Index of the requests that failed. It is given them in the order of their answers; what that costs is added to `work`. */
export class Lineage {
  /** By path, then by everything else that they have in common but bodies; oldest first. */
  private readonly failed = new Map<string, Map<string, readonly Failed[]>>();

  constructor(private readonly work: WorkDone = { units: 0 }) {}

  /** Adds a request, and returns the one that it repeats. */
  next(record: RequestRecord): RequestRecord | undefined {
    const isFailed = hasFailed(record);
    const sharing = this.failed.get(record.path);
    if (!sharing && !isFailed) return undefined;
    const key = targetKey(record);
    const alike = sharing?.get(key) ?? [];
    this.work.units += key.length * COST.byteScanned;
    if (alike.length === 0 && !isFailed) return undefined;
    const body = sentBodyOf(record);
    this.work.units += (body.content?.length ?? 0) * (COST.byteScanned + alike.length * COST.byteCopied);
    const earlier = findAlike(record, body, alike);
    if (isFailed) {
      const targets = sharing ?? new Map<string, readonly Failed[]>();
      this.failed.set(record.path, targets.set(key, [...alike.slice(1 - MAX_ALIKE), { record, body }]));
    }
    return earlier;
  }

  /** Returns the request that this one repeats, without adding it. */
  find(record: RequestRecord): RequestRecord | undefined {
    const alike = this.failed.get(record.path)?.get(targetKey(record));
    return alike && findAlike(record, sentBodyOf(record), alike);
  }

  /** Lets go of a request. */
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

/** The one of them that began last. */
function findAlike(record: RequestRecord, body: SentBody, alike: readonly Failed[]): RequestRecord | undefined {
  let found: RequestRecord | undefined;
  for (const other of alike) {
    if (found && other.record.started < found.started) continue;
    if (isBehind(record, other.record) && isSameBody(other.body, body)) found = other.record;
  }
  return found;
}

/** A field of the request, by its lower-case name. */
export function fieldOf({ head: { fields } }: RequestRecord, name: string): string | undefined {
  for (let at = 0; at < fields.length; at += 2) if (fields[at]!.toLowerCase() === name) return fields[at + 1];
  return undefined;
}

function targetKey({ organization, method, path, query, operation, token }: RequestRecord): string {
  const client = token ? `${token.subject ?? ''}\n${token.repository ?? ''}` : '';
  return `${organization}\0${client}\0${operation}\0${method}\0${path}?${query}`;
}

/** What tells the body of a request from others. */
interface SentBody {
  /** Undefined where it was not read. */
  readonly content: string | undefined;
  readonly bytes: number;
  /** The Content-Length. */
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
    // Two packs of the same objects may differ in their bytes.
    return { content, bytes: 0, length };
  }
  if (body) return { content: body.digest ?? body.latin1, bytes: body.bytes, length };
  const isEmpty = (length ?? '0') === '0' && fieldOf(record, 'transfer-encoding') === undefined;
  return { content: isEmpty ? '' : undefined, bytes: 0, length };
}

/** Units of work (`schedule`) that were done since the last step: those who do it add to it, their driver takes it. */
export interface WorkDone {
  units: number;
}

/** Units that make a step worth its price. */
const STEP = 64;

/** To be yielded from within a loop: `if (isStep(work)) yield take(work);` */
export function isStep({ units }: WorkDone): boolean {
  return units >= STEP;
}

export function take(work: WorkDone): number {
  const { units } = work;
  work.units = 0;
  return units;
}
