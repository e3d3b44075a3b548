import type { RequestRecord } from './record.js';

/**
 * Which request one repeats. The rule:
 *
 *     `retryOf` is the last request before it of the same client, operation, method, target and body
 *     that failed: its answer was an error, or did not reach the client as a whole.
 *
 * The client is the organization and the `sub` and `repo` of the token, as the token says them. The target is the path
 * and the query as they were sent. Bodies are the same when they have the same length and the same first 64 KiB; those
 * of Git when they ask for the same: the command, wants and haves, or the updates of refs, since two packs of the same
 * objects may differ. Of a body that was not read, as the request was refused before, only the Content-Length is
 * compared. What came before is what was answered before.
 */
export function isSameRequest(a: RequestRecord, b: RequestRecord): boolean {
  return targetKey(a) === targetKey(b) && hasSameBody(a, b);
}

export function hasFailed({ status, outcome }: RequestRecord): boolean {
  return status >= 400 || outcome === 'cut' || outcome === 'gone';
}

/** Goes over requests in their order, and says which one each repeats. */
export class Lineage {
  /** By what they have in common but bodies, oldest first. */
  private readonly failed = new Map<string, RequestRecord[]>();

  next(record: RequestRecord): RequestRecord | undefined {
    if (this.failed.size === 0 && !hasFailed(record)) return undefined;
    const key = targetKey(record);
    const alike = this.failed.get(key) ?? [];
    const earlier = alike.findLast((other) => hasSameBody(other, record));
    if (hasFailed(record)) this.failed.set(key, [...alike.slice(1 - MOST_ALIKE), record]);
    return earlier;
  }
}

/** Failed requests for one target, with different bodies, that are looked at. */
const MOST_ALIKE = 32;

/** As `Lineage`, of one request alone; `before` comes newest first. */
export function findRepeated(record: RequestRecord, before: Iterable<RequestRecord>): RequestRecord | undefined {
  let looked = 0;
  for (const earlier of before) {
    if (!hasFailed(earlier) || earlier.path !== record.path || earlier.method !== record.method) continue;
    if (targetKey(earlier) !== targetKey(record)) continue;
    if (hasSameBody(earlier, record)) return earlier;
    looked += 1;
    if (looked === MOST_ALIKE) return undefined;
  }
  return undefined;
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

function hasSameBody(a: RequestRecord, b: RequestRecord): boolean {
  const [one, other] = [bodyKey(a), bodyKey(b)];
  if (one !== undefined && other !== undefined) return one === other;
  const [length, otherLength] = [fieldOf(a, 'content-length'), fieldOf(b, 'content-length')];
  return length === undefined || otherLength === undefined || length === otherLength;
}

/** What tells the body of a request from others; undefined where it was not read. */
function bodyKey(record: RequestRecord): string | undefined {
  const { git, body } = record;
  if (git && git.phase === 'rpc' && git.command !== undefined) {
    const { command, wants, haves, updates } = git;
    const changes = updates.map(({ ref, old, new: next }) => [ref, old, next]);
    return JSON.stringify([command, [...wants].sort(), [...haves].sort(), changes]);
  }
  if (body) return body.digest ?? `${body.bytes} ${body.latin1}`;
  const length = fieldOf(record, 'content-length') ?? '0';
  return length === '0' && fieldOf(record, 'transfer-encoding') === undefined ? '' : undefined;
}
