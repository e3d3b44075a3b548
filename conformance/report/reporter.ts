import type { Report, RuleResult, Verdict } from './results.js';

/** Turns a report into text. Every format is made from the same report and knows nothing else. */
export type Reporter = (report: Report) => string;

/** Whether a verdict makes the run fail. */
export function isBroken(verdict: Verdict, strict: boolean): boolean {
  if (verdict === 'fail' || verdict === 'error' || verdict === 'flaky') return true;
  return strict && (verdict === 'warn' || verdict === 'variant');
}

/** A value in one line, cut where it gets long. */
export function show(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** The facts of a verdict in words, one each. */
export function explain(result: RuleResult): string[] {
  const lines: string[] = [];
  if (result.reason !== undefined) lines.push(result.reason);
  if (result.expected !== undefined) lines.push(`expected ${show(result.expected)}`, `actual   ${show(result.actual)}`);
  return lines;
}
