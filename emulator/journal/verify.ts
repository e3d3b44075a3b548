import { COST } from '../schedule/cost.js';
import type { Steps } from '../schedule/steps.js';
import { parseDuration } from '../time/iso-8601.js';
import { type Bounds, boundsOf, firingBounds, isWithin, rangeText } from './bounds.js';
import { type ClientVerdict, clientSteps } from './client-rules/evaluate.js';
import { type RequestSummary, summaryOf } from './entry.js';
import { expectationText, firingText } from './expectation-text.js';
import { type Expectations, expectationSteps, type RequestExpectation } from './expectations.js';
import type { Journal } from './journal.js';
import { type Condition, conditionsOf } from './query.js';
import { beganAfterEnd, endOf, type RequestRecord } from './record.js';
import { shouldYield, takeUnits, type WorkDone } from './retry-index.js';
import { byBegin, pauseBetween, type SeenRequest, seenSteps } from './seen-request.js';

/** Injected fault, with the number of times that it fired, for checking expectations. */
export interface FaultReport {
  readonly id: string;
  /** Text that shows the fault to the user: its text form, its note, or its JSON. */
  readonly text: string;
  readonly fired: number;
  /**
   * Expected number of firings; it is always verified. If undefined, at least one firing is expected, but only verified
   * if `everyFired` is set.
   */
  readonly expected?: number | { readonly min?: number | undefined; readonly max?: number | undefined } | undefined;
}

/** Request that explains an unmet expectation. It almost matches, or it should not have been sent. */
export interface NearRequest {
  readonly request: RequestSummary;
  /** Members in which the request differs from the expectation. Empty if the request matches. */
  readonly differs: readonly { readonly member: string; readonly wanted: unknown; readonly found: unknown }[];
}

export interface Unmet {
  /** Path of the expectation or fault, such as `requests.0` or `faults.fault-1`. */
  readonly at: string;
  readonly expectation: unknown;
  /** Number of matching requests, or of firings of the fault. */
  readonly found: number;
  readonly detail: string;
  readonly nearest: readonly NearRequest[];
}

export interface Verification {
  /** True if all expectations are met, and no checked rule of level `must` is broken. */
  readonly met: boolean;
  readonly unmet: readonly Unmet[];
  /** Results of the client rules that were checked. */
  readonly client: readonly ClientVerdict[];
}

/** Expectation in words, with its result so far. @internal */
export interface Checked {
  /** Path of the expectation, fault or client rule, such as `requests.0`, `faults.fault-1` or `client.back-off`. */
  readonly at: string;
  readonly text: string;
  readonly met: boolean;
  /** Number of matching requests, of firings of the fault, or of requests to which the client rule applied. */
  readonly found: number;
  /** Sentence that says why the expectation is not met; absent if it is met, or if `found` already says why. */
  readonly detail?: string;
}

/** Maximum number of requests shown for an unmet expectation. */
const MAX_SHOWN = 3;

/**
 * Checks the expectations of a test against the requests that the journal contains at the start, and the faults against
 * their expected firings. Throws `bad_request` if the expectations are invalid.
 *
 * @internal
 */
export function* verifySteps(
  journal: Journal,
  given: unknown,
  faults: readonly FaultReport[] = [],
): Steps<Verification> {
  return (yield* checkSteps(journal, given, faults)).verification;
}

/**
 * Checks expectations as `verifySteps` does. Also returns each expectation in words, met or not, in the order in which
 * they are given. @internal
 */
export function* checkSteps(
  journal: Journal,
  given: unknown,
  faults: readonly FaultReport[],
): Steps<{ readonly verification: Verification; readonly checked: readonly Checked[] }> {
  const work: WorkDone = { units: 0 };
  // Copies the records first, so that requests that arrive during the verification are left out.
  const records = [...journal.records()];
  const { dropped } = journal;
  const expectations = yield* expectationSteps(given);
  const { requests = [], after, client } = expectations;
  const all = yield* seenSteps(records, work);
  const isSelected = ({ record }: SeenRequest): boolean => after === undefined || record.id > after;
  const seen = all.filter(isSelected);
  const isComplete = dropped === 0 || all.some(({ record }) => record.id === after);
  const evaluated: Evaluated = { seen, dropped: isComplete ? 0 : dropped, work };
  const unmet: Unmet[] = [];
  const numbers: number[] = [];
  for (const [index, expectation] of requests.entries()) {
    const result = yield* checkRequests(evaluated, expectation, index);
    unmet.push(...result.unmet);
    numbers.push(result.found);
  }
  const outOfOrder = yield* checkOrder(evaluated, expectations);
  unmet.push(...outOfOrder);
  const everyFired = expectations.faults?.everyFired ?? false;
  const expected = faults.filter((fault) => everyFired || fault.expected !== undefined);
  unmet.push(...expected.flatMap(checkFault));
  const verdicts = client === undefined ? [] : yield* clientSteps(all, client, isSelected, work);
  const areRulesKept = verdicts.every(({ verdict, level }) => verdict !== 'broken' || level === 'should');
  const verification = { met: unmet.length === 0 && areRulesKept, unmet, client: verdicts };
  const checked = [
    ...checkedRequests(requests, { numbers, unmet, missing: outOfOrder[0], dropped: evaluated.dropped }),
    ...expected.map((fault) => checkedFault(fault)),
    ...verdicts.map((verdict) => checkedRule(verdict)),
  ];
  return { verification, checked };
}

interface RequestResults {
  /** Number of matching requests of each expectation. */
  readonly numbers: readonly number[];
  readonly unmet: readonly Unmet[];
  /** First expectation in the sequence without a request at its place; undefined if all have one. */
  readonly missing: Unmet | undefined;
  /** Number of requests that the journal dropped because of its limits. */
  readonly dropped: number;
}

function checkedRequests(
  requests: readonly RequestExpectation[],
  { numbers, unmet, missing, dropped }: RequestResults,
): readonly Checked[] {
  const details = new Map(unmet.toReversed().map(({ at, detail }) => [at, detail]));
  const last = missing && (missing.expectation as RequestExpectation).order!;
  return requests.map((expectation, index) => {
    const at = `requests.${index}`;
    const { order } = expectation;
    // The search ends at the first missing request of the sequence, so later places are not reached either.
    const isAfterMissing = last !== undefined && order !== undefined && order > last;
    const detail = details.get(at) ?? (isAfterMissing ? `Place ${last} of the sequence comes first.` : undefined);
    const found = numbers[index]!;
    const isClear = dropped === 0 && !isWithin(found, boundsOf(expectation));
    return {
      at,
      text: expectationText(expectation),
      met: detail === undefined,
      found,
      ...(detail !== undefined && !isClear && { detail }),
    };
  });
}

function checkedFault(fault: FaultReport): Checked {
  const { id, fired } = fault;
  const bounds = boundsOfFault(fault);
  return {
    at: `faults.${id}`,
    text: firingText(bounds, `the fault ${id}`),
    met: isWithin(fired, bounds),
    found: fired,
  };
}

function checkedRule({ rule, title, verdict, level, occasions, faults: [first] }: ClientVerdict): Checked {
  const met = verdict !== 'broken' || level === 'should';
  return {
    at: `client.${rule}`,
    text: `the client keeps the rule ${rule} (${title})`,
    met,
    found: occasions,
    ...(!met && { detail: `${first!.request}: ${first!.detail}` }),
  };
}

interface Evaluated {
  readonly seen: readonly SeenRequest[];
  /** Number of requests that the journal dropped because of its limits. They might have matched. */
  readonly dropped: number;
  readonly work: WorkDone;
}

/**
 * Returns the indexes of the requests that satisfy all conditions, from index `from` (inclusive) to `to` (exclusive).
 * Stops after `max` requests. Yields units of CPU work, so that other requests can run.
 */
function* findSteps(
  { seen, work }: Evaluated,
  conditions: readonly Condition[],
  { from = 0, to = seen.length, max = Number.POSITIVE_INFINITY } = {},
): Steps<number[]> {
  const found: number[] = [];
  for (let at = from; at < to && found.length < max; at++) {
    if (failedOf(conditions, seen[at]!.record, work, 1).length === 0) found.push(at);
    if (shouldYield(work)) yield takeUnits(work);
  }
  return found;
}

/** Returns the conditions that the record does not satisfy, but at most `max`. */
function failedOf(
  conditions: readonly Condition[],
  record: RequestRecord,
  work: WorkDone,
  max = Number.POSITIVE_INFINITY,
): Condition[] {
  const failed: Condition[] = [];
  for (const condition of conditions) {
    work.units += COST.line + condition.values * COST.operation;
    if (!condition.holds(record)) failed.push(condition);
    if (failed.length === max) break;
  }
  return failed;
}

function* checkRequests(
  evaluated: Evaluated,
  expectation: RequestExpectation,
  index: number,
): Steps<{ readonly found: number; readonly unmet: readonly Unmet[] }> {
  const { seen, dropped, work } = evaluated;
  const at = `requests.${index}`;
  const conditions = conditionsOf(expectation.match);
  const found = (yield* findSteps(evaluated, conditions)).map((place) => seen[place]!);
  const unmet = (detail: string, nearest: readonly NearRequest[]) => ({
    found: found.length,
    unmet: [{ at, expectation, found: found.length, detail, nearest }],
  });
  const met = { found: found.length, unmet: [] };
  const { min, max } = boundsOf(expectation);
  if (found.length < min) {
    const lost = dropped > 0 ? ` ${droppedText(dropped)}.` : '';
    const nearest = yield* nearestTo(evaluated, conditions);
    return unmet(`${countText({ min, max }, found.length)}${lost}`, nearest);
  }
  if (found.length > max) {
    const last = found.slice(-MAX_SHOWN);
    return unmet(
      countText({ min, max }, found.length),
      last.map(({ record }) => show(record)),
    );
  }
  if (dropped > 0 && max < Number.POSITIVE_INFINITY) {
    return unmet(`${droppedText(dropped)}, so the number of matching requests is unknown.`, []);
  }
  if (expectation.minGap === undefined) return met;
  const gap = yield* checkGap(found, expectation.minGap, work);
  return gap ? unmet(gap.detail, gap.pair) : met;
}

function droppedText(dropped: number): string {
  return `The journal has dropped ${dropped} earlier requests (--max-journal, --max-journal-bytes)`;
}

function countText(bounds: Bounds, found: number): string {
  const range = rangeText(bounds);
  return `Expected ${range} matching ${/\b1$/.test(range) ? 'request' : 'requests'}, found ${found}.`;
}

/**
 * Returns the first violation of `minGap`: two consecutive requests whose pause is too short. Returns undefined if all
 * pauses are long enough.
 */
function* checkGap(
  found: readonly SeenRequest[],
  minGap: NonNullable<RequestExpectation['minGap']>,
  work: WorkDone,
): Steps<{ detail: string; pair: NearRequest[] } | undefined> {
  const min = minGap === 'retry-after' ? undefined : parseDuration(minGap)!;
  const byStart = found.toSorted(byBegin);
  const byEnd = found.toSorted((a, b) => endOf(a.record) - endOf(b.record));
  let count = 0;
  for (const [index, later] of byStart.entries()) {
    work.units += COST.line;
    if (shouldYield(work)) yield takeUnits(work);
    // Counts only responses that ended before the request began. A client cannot obey a `Retry-After` that it has not
    // read.
    while (count < byEnd.length && beganAfterEnd(later.record, byEnd[count]!.record)) count += 1;
    const earlier = min === undefined ? byEnd[count - 1] : byStart[index - 1];
    if (!earlier) continue;
    const wanted = min ?? earlier.retryAfter ?? 0;
    const pause = pauseBetween(earlier, later);
    if (pause >= wanted) continue;
    const when = `${Math.round(Math.abs(pause))} ms ${pause < 0 ? 'before' : 'after'}`;
    const detail = `The request ${later.record.id} began ${when} the end of the response to ${earlier.record.id}, but should begin at least ${wanted} ms after it.`;
    return { detail, pair: [show(earlier.record), show(later.record)] };
  }
  return undefined;
}

/**
 * Checks that requests arrived in the order of the expectations with `order`. Each search begins after the request that
 * the previous search found.
 */
function* checkOrder(evaluated: Evaluated, { requests = [] }: Expectations): Steps<Unmet[]> {
  const { seen } = evaluated;
  const ordered = [...requests.entries()]
    .filter(([, { order }]) => order !== undefined)
    .sort(([, a], [, b]) => a.order! - b.order!);
  let from = 0;
  for (const [index, expectation] of ordered) {
    const conditions = conditionsOf(expectation.match);
    const [place] = yield* findSteps(evaluated, conditions, { from, max: 1 });
    if (place !== undefined) {
      from = place + 1;
      continue;
    }
    const before = yield* findSteps(evaluated, conditions, { to: from });
    const afterId = from === 0 ? '' : ` after ${seen[from - 1]!.record.id}`;
    const nearest =
      before.length > 0
        ? before.slice(-MAX_SHOWN).map((at) => show(seen[at]!.record))
        : yield* nearestTo(evaluated, conditions);
    return [
      {
        at: `requests.${index}`,
        expectation,
        found: before.length,
        detail: `Expected a matching request${afterId} (order ${expectation.order}), found none.`,
        nearest,
      },
    ];
  }
  return [];
}

/** Returns one unmet expectation if the fault did not fire as often as expected; otherwise an empty list. @internal */
export function checkFault(fault: FaultReport): Unmet[] {
  const { id, text, fired } = fault;
  const bounds = boundsOfFault(fault);
  if (isWithin(fired, bounds)) return [];
  const times = fired === 1 ? 'once' : `${fired} times`;
  const detail = `The fault ${text} (${id}) fired ${times}, but should fire ${rangeText(bounds)}.`;
  return [{ at: `faults.${id}`, expectation: fault, found: fired, detail, nearest: [] }];
}

/** Returns the expected number of firings of a fault. By default, at least one firing is expected. */
function boundsOfFault({ expected = { min: 1 } }: FaultReport): Bounds {
  return firingBounds(expected);
}

/**
 * Returns requests that satisfy at least one condition, as hints for an unmet expectation. The request with the fewest
 * differences comes first; among equals, the latest.
 */
function* nearestTo({ seen, work }: Evaluated, conditions: readonly Condition[]): Steps<NearRequest[]> {
  const nearest: { readonly record: RequestRecord; readonly failed: readonly Condition[] }[] = [];
  for (const { record } of seen.toReversed()) {
    const failed = failedOf(conditions, record, work);
    if (shouldYield(work)) yield takeUnits(work);
    if (failed.length === conditions.length) continue;
    const place = nearest.findIndex((other) => other.failed.length > failed.length);
    if (place >= 0) nearest.splice(place, 0, { record, failed });
    else if (nearest.length < MAX_SHOWN) nearest.push({ record, failed });
    if (nearest.length > MAX_SHOWN) nearest.pop();
  }
  return nearest.map(({ record, failed }) => show(record, failed));
}

function show(record: RequestRecord, failed: readonly Condition[] = []): NearRequest {
  const differs = failed.map(({ member, wanted, found }) => ({ member, wanted, found: found(record) ?? null }));
  return { request: summaryOf(record), differs };
}
