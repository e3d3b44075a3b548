import { isDeepStrictEqual } from 'node:util';
import { defined } from '../target/json.js';
import { show } from './reporter.js';
import type { Report, RuleResult } from './results.js';

/** One difference between two results. A missing value is absent in that result. */
export interface Difference {
  /**
   * `verdict`: the verdict of a rule. `observed`: an observed value. `variant`: a variant. `checked`: a rule that only
   * one result contains.
   */
  readonly kind: 'verdict' | 'observed' | 'variant' | 'checked';
  /** Id of the rule, or key of the variant. */
  readonly id: string;
  readonly section?: string;
  readonly says?: string;
  /** Name of the observed value. */
  readonly member?: string;
  readonly before?: unknown;
  readonly after?: unknown;
  /** Reasons of the two verdicts. */
  readonly reason?: { readonly before?: string; readonly after?: string };
}

/** Differences between two results. */
export interface Comparison {
  readonly format: 1;
  readonly before: Side;
  readonly after: Side;
  readonly differences: readonly Difference[];
}

export type Side = ReturnType<typeof sideOf>;

/**
 * Observed values that are counts or measurements. They are not compared, because they do not describe the target's
 * behaviour.
 */
const MEASURED = ['answers', 'delay_ms'];

/** Compares verdicts, observed values and variants, and finds rules that only one result contains. */
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

/** Returns the members of a report that identify one side of a comparison. */
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

/** Kinds of differences in display order, with the text for an absent value. */
const KINDS: readonly (readonly [kind: Difference['kind'], heading: string, absent: string])[] = [
  ['verdict', 'Verdicts', 'none'],
  ['checked', 'Rules that only one of them has', 'not there'],
  ['variant', 'Variants', 'not seen'],
  ['observed', 'Observed', 'not seen'],
];

/** Difference whose values are one-line texts. */
export type ShownDifference = ReturnType<typeof differencesByKind>[number]['rows'][number];

/** Groups differences by kind and omits empty kinds. `index`: position of the kind in `KINDS`. */
export function differencesByKind({ differences }: Comparison) {
  return KINDS.map(([kind, heading, absent], index) => {
    const text = (value: unknown) => (value === undefined ? absent : show(value));
    const own = differences.filter((one) => one.kind === kind);
    return { heading, index, rows: own.map((one) => ({ ...one, before: text(one.before), after: text(one.after) })) };
  }).filter(({ rows }) => rows.length > 0);
}

/** Summarizes the number of differences of each kind in one sentence. */
export function concludeComparison(comparison: Comparison): string {
  const { differences } = comparison;
  if (differences.length === 0) return 'No difference.';
  const counts = differencesByKind(comparison).map(({ heading, rows }) => `${heading.toLowerCase()} ${rows.length}`);
  return `${differences.length} ${differences.length === 1 ? 'difference' : 'differences'}: ${counts.join(', ')}.`;
}
