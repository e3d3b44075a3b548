import { COST } from '../schedule/cost.js';
import type { Steps } from '../schedule/steps.js';
import type { RequestRecord } from './record.js';

/**
 * Position in the order of the slowest requests: duration in microseconds, then sequence number. Both are needed,
 * because several requests can have the same duration.
 */
export type SlowPosition = readonly [micros: number, sequence: number];

export function slowPositionOf({ micros, sequence }: RequestRecord): SlowPosition {
  return [micros, sequence];
}

/** Compares two positions. The slowest request comes first; among equals, the newest. */
function bySlowness([micros, sequence]: SlowPosition, [otherMicros, otherSequence]: SlowPosition): number {
  return otherMicros - micros || otherSequence - sequence;
}

export interface SlowestOptions {
  readonly select: (record: RequestRecord) => boolean;
  /** Position after which the part begins; undefined for the first part. */
  readonly after: SlowPosition | undefined;
  readonly limit: number;
}

/** Number of records that are examined between two steps. */
const SLICE = 64;

/**
 * Returns the `limit` slowest of the records that `select` accepts, slowest first, and whether there are more. Requests
 * whose response has not ended are left out, because their duration is unknown.
 *
 * Examines each record once, and sorts only as many candidates as twice the limit at a time.
 */
export function* slowestSteps(
  records: Iterable<RequestRecord>,
  { select, after, limit }: SlowestOptions,
): Steps<{ page: RequestRecord[]; hasMore: boolean }> {
  let candidates: RequestRecord[] = [];
  const sort = () => {
    candidates.sort((a, b) => bySlowness(slowPositionOf(a), slowPositionOf(b)));
    candidates = candidates.slice(0, limit + 1);
  };
  /** Position of the last candidate that can still be returned. Undefined until there are more than `limit`. */
  let last: SlowPosition | undefined;
  let examined = 0;
  for (const record of records) {
    examined += 1;
    if (examined % SLICE === 0) yield SLICE * COST.entry;
    const position = slowPositionOf(record);
    if (record.ended === 0 || (last && bySlowness(position, last) > 0)) continue;
    if ((after && bySlowness(position, after) <= 0) || !select(record)) continue;
    candidates.push(record);
    if (candidates.length <= 2 * limit + 1) continue;
    yield candidates.length * COST.entry;
    sort();
    last = slowPositionOf(candidates.at(-1)!);
  }
  sort();
  return { page: candidates.slice(0, limit), hasMore: candidates.length > limit };
}
