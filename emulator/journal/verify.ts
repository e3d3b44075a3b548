import { parseDuration } from '../environment/iso-8601.js';
import { type ClientVerdict, evaluateClient } from './client-rules/evaluate.js';
import { summaryOf } from './entry.js';
import { type Expectations, type RequestExpectation, readExpectations } from './expectations.js';
import type { Journal } from './journal.js';
import { type Condition, conditionsOf } from './query.js';
import type { RequestRecord } from './record.js';
import { pauseBetween, type SeenRequest, seenRequests } from './seen-request.js';

/** A fault, as far as an expectation asks for it. */
export interface FaultReport {
  readonly id: string;
  /** As it was written. */
  readonly text: string;
  readonly fired: number;
  /** How often it has to fire; once at least, unless it says. */
  readonly expected?: number | { readonly min?: number | undefined; readonly max?: number | undefined } | undefined;
}

/** A request that comes close to what was expected, or that should not have been. */
export interface NearRequest {
  readonly request: ReturnType<typeof summaryOf>;
  /** In what it is not what was expected; empty where it is. */
  readonly differs: readonly { readonly member: string; readonly wanted: unknown; readonly found: unknown }[];
}

export interface Unmet {
  /** Where it stands: `requests.0`; or of which fault: `faults.fault-1`. */
  readonly at: string;
  readonly expectation: unknown;
  /** How many requests there were, or how often the fault fired. */
  readonly found: number;
  readonly detail: string;
  readonly nearest: readonly NearRequest[];
}

export interface Verification {
  /** Whether everything that was expected is so, and no rule of level `must` that was asked for is broken. */
  readonly met: boolean;
  readonly unmet: readonly Unmet[];
  /** The client rules that were asked for. */
  readonly client: readonly ClientVerdict[];
}

/** Requests shown with what is unmet. */
const MOST_SHOWN = 3;

/** Compares what was expected with what the journal has. Throws `bad_request` for what is no expectation. */
export function verify(journal: Journal, given: unknown, faults: readonly FaultReport[] = []): Verification {
  const expectations = readExpectations(given);
  const all = seenRequests(journal.records());
  const { after } = expectations;
  const seen = after === undefined ? all : all.filter(({ record }) => record.id > after);
  const isComplete = journal.dropped === 0 || all.some(({ record }) => record.id === after);
  const evaluated: Evaluated = { seen, dropped: isComplete ? 0 : journal.dropped };
  const unmet = [
    ...(expectations.requests ?? []).flatMap((expectation, index) => checkRequests(evaluated, expectation, index)),
    ...checkOrder(evaluated, expectations),
    ...(expectations.faults?.everyFired ? faults.flatMap((fault) => checkFault(fault)) : []),
  ];
  const client = expectations.client === undefined ? [] : evaluateClient(seen, expectations.client);
  const isPolite = client.every(({ verdict, level }) => verdict !== 'broken' || level === 'should');
  return { met: unmet.length === 0 && isPolite, unmet, client };
}

interface Evaluated {
  readonly seen: readonly SeenRequest[];
  /** Requests that might have been meant, but of which the journal has let go. */
  readonly dropped: number;
}

function checkRequests({ seen, dropped }: Evaluated, expectation: RequestExpectation, index: number): Unmet[] {
  const at = `requests.${index}`;
  const conditions = conditionsOf(expectation.match);
  const found = seen.filter(({ record }) => isMatch(conditions, record));
  const unmet = (detail: string, nearest: readonly NearRequest[]): Unmet[] => [
    { at, expectation, found: found.length, detail, nearest },
  ];
  const { least, most } = boundsOf(expectation);
  if (found.length < least) {
    const lost = dropped > 0 ? `; the journal has let go of ${dropped} earlier requests` : '';
    return unmet(`${found.length} of at least ${least} requests were found${lost}.`, nearestTo(conditions, seen));
  }
  if (found.length > most) {
    const last = found.slice(-MOST_SHOWN);
    return unmet(
      `${found.length} requests were found, and ${most} are the most.`,
      last.map(({ record }) => show(record)),
    );
  }
  if (dropped > 0 && most < Number.POSITIVE_INFINITY) {
    return unmet(`The journal has let go of ${dropped} earlier requests, so that there may have been more.`, []);
  }
  return expectation.minGap === undefined
    ? []
    : checkGap(found, expectation.minGap).flatMap(({ detail, pair }) => unmet(detail, pair));
}

function boundsOf({ count, atLeast, atMost, never, order }: RequestExpectation): { least: number; most: number } {
  if (never) return { least: 0, most: 0 };
  if (count !== undefined) return { least: count, most: count };
  const isOpen = atMost !== undefined || order !== undefined;
  return { least: atLeast ?? (isOpen ? 0 : 1), most: atMost ?? Number.POSITIVE_INFINITY };
}

/** The first two requests that came too close to each other. */
function checkGap(
  found: readonly SeenRequest[],
  minGap: NonNullable<RequestExpectation['minGap']>,
): { detail: string; pair: NearRequest[] }[] {
  for (const [index, later] of found.entries()) {
    const earlier = found[index - 1];
    if (!earlier) continue;
    const wanted = minGap === 'retry-after' ? (earlier.retryAfter ?? 0) : parseDuration(minGap)!;
    const pause = pauseBetween(earlier, later);
    if (pause >= wanted) continue;
    const detail = `${later.record.id} began ${Math.round(pause)} ms after ${earlier.record.id} was answered, and not ${wanted} ms.`;
    return [{ detail, pair: [show(earlier.record), show(later.record)] }];
  }
  return [];
}

/** What has an order is found one behind the other: each behind the request that the one before it was found in. */
function checkOrder({ seen }: Evaluated, { requests = [] }: Expectations): Unmet[] {
  const ordered = [...requests.entries()]
    .filter(([, { order }]) => order !== undefined)
    .sort(([, a], [, b]) => a.order! - b.order!);
  let from = 0;
  for (const [index, expectation] of ordered) {
    const conditions = conditionsOf(expectation.match);
    const place = seen.findIndex(({ record }, at) => at >= from && isMatch(conditions, record));
    if (place < 0) {
      const before = seen.filter(({ record }, at) => at < from && isMatch(conditions, record));
      const behind = from === 0 ? '' : ` behind ${seen[from - 1]!.record.id}`;
      return [
        {
          at: `requests.${index}`,
          expectation,
          found: before.length,
          detail: `No such request was found${behind}, where its order puts it.`,
          nearest:
            before.length > 0
              ? before.slice(-MOST_SHOWN).map(({ record }) => show(record))
              : nearestTo(conditions, seen),
        },
      ];
    }
    from = place + 1;
  }
  return [];
}

function checkFault(fault: FaultReport): Unmet[] {
  const { id, text, fired, expected = { min: 1 } } = fault;
  const { min = 0, max = Number.POSITIVE_INFINITY } =
    typeof expected === 'number' ? { min: expected, max: expected } : expected;
  if (fired >= min && fired <= max) return [];
  const wanted = min === max ? `${min}` : max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`;
  const detail = `The fault ${text} (${id}) fired ${fired} times, and not ${wanted}.`;
  return [{ at: `faults.${id}`, expectation: fault, found: fired, detail, nearest: [] }];
}

function isMatch(conditions: readonly Condition[], record: RequestRecord): boolean {
  return conditions.every(({ holds }) => holds(record));
}

/** Requests that are as expected in something, those that differ least first. */
function nearestTo(conditions: readonly Condition[], seen: readonly SeenRequest[]): NearRequest[] {
  const near = seen
    .map(({ record }) => ({ record, failed: conditions.filter(({ holds }) => !holds(record)) }))
    .filter(({ failed }) => failed.length < conditions.length);
  // The sort keeps the order of what differs in as much: the last of those.
  near.reverse().sort((a, b) => a.failed.length - b.failed.length);
  return near.slice(0, MOST_SHOWN).map(({ record, failed }) => show(record, failed));
}

function show(record: RequestRecord, failed: readonly Condition[] = []): NearRequest {
  const differs = failed.map(({ member, wanted, found }) => ({ member, wanted, found: found(record) ?? null }));
  return { request: summaryOf(record), differs };
}
