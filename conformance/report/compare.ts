import { isDeepStrictEqual } from 'node:util';
import { defined } from '../target/json.js';
import { show } from './reporter.js';
import type { Report, RuleResult } from './results.js';

/** Difference between two reports. `before` or `after` is absent if the report has no such value. */
export interface Difference {
  /**
   * Kind of the difference.
   * - `verdict`: the verdict of a rule changed.
   * - `observed`: a rule observed another value where the specification is silent.
   * - `variant`: the target changed to another of the responses that an unclear specification permits.
   * - `checked`: only one of the reports contains the rule.
   */
  readonly kind: 'verdict' | 'observed' | 'variant' | 'checked';
  /** Id of the rule. For a variant, its key in the reports. */
  readonly id: string;
  readonly section?: string;
  readonly says?: string;
  /** Name of the observed value. Undefined for other kinds of differences. */
  readonly member?: string;
  readonly before?: unknown;
  readonly after?: unknown;
  /** Reasons that the two reports give for a changed verdict. */
  readonly reason?: { readonly before?: string; readonly after?: string };
}

/** All differences between an earlier report (`before`) and a later one (`after`). */
export interface Comparison {
  readonly format: 1;
  readonly before: Side;
  readonly after: Side;
  readonly differences: readonly Difference[];
}

export type Side = ReturnType<typeof sideOf>;

/**
 * Names of observed values that are counts or durations. They are not compared, because they vary between runs even if
 * the target behaves the same.
 */
const MEASURED = ['answers', 'delay_ms'];

/**
 * Returns the differences between two reports: changed verdicts, changed observed values, changed variants, and rules
 * that only one report contains.
 */
export function compareReports(a: Report, b: Report): Comparison {
  const before = new Map(a.rules.map((rule) => [rule.id, rule]));
  const after = new Map(b.rules.map((rule) => [rule.id, rule]));
  const differences: Difference[] = [];
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    differences.push(...compareRule(before.get(id), after.get(id)));
  }
  for (const key of [...new Set([...Object.keys(a.variants), ...Object.keys(b.variants)])].sort()) {
    const [one, other] = [own(a.variants, key), own(b.variants, key)];
    if (one !== other) differences.push({ kind: 'variant', id: key, ...pair(one, other) });
  }
  return { format: 1, before: sideOf(a), after: sideOf(b), differences };
}

/** Returns the properties that identify a report in a comparison: target, start time, suite version and exit code. */
export function sideOf({ target, started_at, suite, exit_code }: Report) {
  return { base_url: target.base_url, org: target.org, started_at, suite: suite.version, exit_code };
}

function pair(before: unknown, after: unknown): Pick<Difference, 'before' | 'after'> {
  return defined({ before, after });
}

function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function compareRule(a: RuleResult | undefined, b: RuleResult | undefined): Difference[] {
  const rule = b ?? a;
  if (rule === undefined) return [];
  const { id, section, says } = rule;
  const about = { id, section, says };
  if (a === undefined || b === undefined) return [{ kind: 'checked', ...about, ...pair(a?.verdict, b?.verdict) }];
  const differences: Difference[] = [];
  if (a.verdict !== b.verdict) {
    const reason = pair(a.reason, b.reason) as NonNullable<Difference['reason']>;
    differences.push({ kind: 'verdict', ...about, before: a.verdict, after: b.verdict, reason });
  }
  const [seenBefore = {}, seenAfter = {}] = [a.observed, b.observed];
  for (const member of new Set([...Object.keys(seenBefore), ...Object.keys(seenAfter)])) {
    const [one, other] = [own(seenBefore, member), own(seenAfter, member)];
    if (MEASURED.includes(member) || isDeepStrictEqual(one, other)) continue;
    differences.push({ kind: 'observed', ...about, member, ...pair(one, other) });
  }
  return differences;
}

/**
 * Kinds of differences in display order. Each has a heading, and the text to show for a value that is absent from one
 * report.
 */
const KINDS: readonly (readonly [kind: Difference['kind'], heading: string, absent: string])[] = [
  ['verdict', 'Verdicts', 'none'],
  ['checked', 'Rules that only one of them has', 'not there'],
  ['variant', 'Variants', 'not seen'],
  ['observed', 'Observed', 'not seen'],
];

/** Difference between two reports, with each value formatted as one line of text. */
export type ShownDifference = ReturnType<typeof differencesByKind>[number]['rows'][number];

/**
 * Groups differences by kind, in display order. Omits kinds that do not occur. The result's `index` is the position of
 * the kind in `KINDS`.
 */
export function differencesByKind({ differences }: Comparison) {
  return KINDS.map(([kind, heading, absent], index) => {
    const text = (value: unknown) => (value === undefined ? absent : show(value));
    const own = differences.filter((one) => one.kind === kind);
    return { heading, index, rows: own.map((one) => ({ ...one, before: text(one.before), after: text(one.after) })) };
  }).filter(({ rows }) => rows.length > 0);
}

/** Returns a sentence with the number of differences of each kind. */
export function concludeComparison(comparison: Comparison): string {
  const { differences } = comparison;
  if (differences.length === 0) return 'No difference.';
  const counts = differencesByKind(comparison).map(({ heading, rows }) => `${heading.toLowerCase()} ${rows.length}`);
  return `${differences.length} ${differences.length === 1 ? 'difference' : 'differences'}: ${counts.join(', ')}.`;
}
