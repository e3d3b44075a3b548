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
 * objects may differ. What came before is what was answered before.
 */
export function lineageKey(record: RequestRecord): string {
  const { organization, method, path, query, operation } = record;
  const { token } = record;
  const client = token ? `${token.subject ?? ''}\n${token.repository ?? ''}` : '';
  return `${organization}\0${client}\0${operation}\0${method}\0${path}?${query}\0${bodyKey(record)}`;
}

export function hasFailed({ status, outcome }: RequestRecord): boolean {
  return status >= 400 || outcome === 'cut' || outcome === 'gone';
}

/** What tells the body of a request from others. */
function bodyKey({ git, body }: RequestRecord): string {
  if (git && git.phase === 'rpc') {
    const { command, wants, haves, updates } = git;
    return JSON.stringify([
      command,
      [...wants].sort(),
      [...haves].sort(),
      updates.map(({ ref, old, new: next }) => [ref, old, next]),
    ]);
  }
  if (!body) return '';
  return body.digest ?? `${body.bytes} ${body.latin1}`;
}

/** Goes over requests in their order, and says which one each repeats. */
export class Lineage {
  private readonly failed = new Map<string, string>();

  next(record: RequestRecord): string | undefined {
    const hasOne = this.failed.size > 0;
    if (!hasOne && !hasFailed(record)) return undefined;
    const key = lineageKey(record);
    const earlier = this.failed.get(key);
    if (hasFailed(record)) this.failed.set(key, record.id);
    return earlier;
  }
}

/** As `Lineage`, of one request alone; `before` comes newest first. */
export function findRepeated(record: RequestRecord, before: Iterable<RequestRecord>): string | undefined {
  let key: string | undefined;
  for (const earlier of before) {
    if (!hasFailed(earlier) || earlier.path !== record.path || earlier.method !== record.method) continue;
    key ??= lineageKey(record);
    if (lineageKey(earlier) === key) return earlier.id;
  }
  return undefined;
}
