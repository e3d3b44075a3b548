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

/** A value in one line, and a word for one that is not there. */
export function showSide(value: unknown, absent: string): string {
  return value === undefined ? absent : show(value);
}

/** What is not there is told by kind: a rule was not checked, a value was not seen. */
export const ABSENT: Readonly<Record<Difference['kind'], string>> = {
  verdict: 'none',
  checked: 'not there',
  observed: 'not seen',
  variant: 'not seen',
};

export const HEADINGS: readonly (readonly [kind: Difference['kind'], heading: string])[] = [
  ['verdict', 'Verdicts'],
  ['checked', 'Rules that only one of them has'],
  ['variant', 'Variants'],
  ['observed', 'Observed'],
];

/** How many things of each kind differ, in one sentence. */
export function concludeComparison({ differences }: Comparison): string {
  if (differences.length === 0) return 'No difference.';
  const counts = HEADINGS.flatMap(([kind, heading]) => {
    const count = differences.filter((one) => one.kind === kind).length;
    return count === 0 ? [] : [`${heading.toLowerCase()} ${count}`];
  });
  return `${differences.length} ${differences.length === 1 ? 'difference' : 'differences'}: ${counts.join(', ')}.`;
}
