import { isDeepStrictEqual } from 'node:util';
import { defined } from '../target/json.js';
import { show } from './reporter.js';
import type { Report, RuleResult } from './results.js';

/** One thing that is otherwise in the second result; a value that is left out is not there. */
export interface Difference {
  /** `verdict` of a rule, a member of what it `observed`, a `variant`, or a rule that only one of them `checked`. */
  readonly kind: 'verdict' | 'observed' | 'variant' | 'checked';
  /** The rule, or the key of the variant. */
  readonly id: string;
  readonly section?: string;
  readonly says?: string;
  /** The member of what was observed. */
  readonly member?: string;
  readonly before?: unknown;
  readonly after?: unknown;
  /** Why the verdict is what it is. */
  readonly reason?: { readonly before?: string; readonly after?: string };
}

/** What changed between two results. */
export interface Comparison {
  readonly format: 1;
  readonly before: Side;
  readonly after: Side;
  readonly differences: readonly Difference[];
}

type Side = ReturnType<typeof sideOf>;

/** What is counted and measured: it says nothing about how a target behaves. */
const MEASURED = ['answers', 'delay_ms'];

/** What is otherwise in `b`: verdicts, what was observed, variants, and rules that only one has. */
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

function sideOf({ target, started_at, suite, exit_code }: Report) {
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

/** The kinds of differences in their order, with what stands for a value that is absent. */
const KINDS: readonly (readonly [kind: Difference['kind'], heading: string, absent: string])[] = [
  ['verdict', 'Verdicts', 'none'],
  ['checked', 'Rules that only one of them has', 'not there'],
  ['variant', 'Variants', 'not seen'],
  ['observed', 'Observed', 'not seen'],
];

/** A difference whose values are texts of one line. */
export type ShownDifference = ReturnType<typeof differencesByKind>[number]['rows'][number];

/** The differences of each kind that has any. `index` is that of the kind. */
export function differencesByKind({ differences }: Comparison) {
  return KINDS.map(([kind, heading, absent], index) => {
    const text = (value: unknown) => (value === undefined ? absent : show(value));
    const own = differences.filter((one) => one.kind === kind);
    return { heading, index, rows: own.map((one) => ({ ...one, before: text(one.before), after: text(one.after) })) };
  }).filter(({ rows }) => rows.length > 0);
}

/** How many things of each kind differ, in one sentence. */
export function concludeComparison(comparison: Comparison): string {
  const { differences } = comparison;
  if (differences.length === 0) return 'No difference.';
  const counts = differencesByKind(comparison).map(({ heading, rows }) => `${heading.toLowerCase()} ${rows.length}`);
  return `${differences.length} ${differences.length === 1 ? 'difference' : 'differences'}: ${counts.join(', ')}.`;
}
