import { stringify } from 'yaml';
import { z } from 'zod';
import { defined } from '../target/json.js';
import { readStructured } from '../target/structured-file.js';
import { InvalidFile } from '../target/text-file.js';
import { readYaml } from '../target/yaml.js';
import { isBroken } from './reporter.js';
import { countDeciding, type Expectation, exitCodeOf, minCheckedOf, type Report, type RuleResult } from './results.js';

/**
 * Version of the baseline format. A baseline is a file with expected failures; files of another version are refused.
 */
export const BASELINE_FORMAT = 1;

/**
 * Verdicts that a baseline (list of expected failures) can expect. `error` is excluded, because it is an internal error
 * of the suite.
 */
export const EXPECTABLE = ['fail', 'flaky', 'warn', 'variant'] as const;

/** Entry of a baseline (list of expected failures). It names a rule that the target is currently known to break. */
export interface BaselineEntry extends Pick<Expectation, 'reason' | 'expires' | 'verdict'> {
  readonly rule: string;
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Returns true if the text is a calendar date such as `2027-01-31` and the date exists. */
export function isDate(text: string): boolean {
  return DATE.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text;
}

const entry = z.strictObject({
  reason: z
    .string()
    .regex(/\S/, 'must be a non-empty reason')
    .describe('Reason for the failure, and who knows about it'),
  expires: z
    .string()
    .regex(DATE, 'must be a date like 2027-01-31')
    .refine(isDate, 'must be a date like 2027-01-31')
    .meta({ format: 'date', description: 'The last day, in UTC, on which the failure is expected' }),
  verdict: z
    .enum(EXPECTABLE, `must be one of ${EXPECTABLE.join(', ')}`)
    .optional()
    .describe('Default: any of them'),
});

const baseline = z.strictObject({
  $schema: z.string().optional(),
  format: z.literal(BASELINE_FORMAT).describe('Version of the format'),
  rules: z.record(z.string().min(1), entry).describe('Failures that are expected, by the id of their rule'),
});

/** Returns the JSON Schema of baseline files (lists of expected failures), as published with this package. */
export function baselineSchema(): object {
  return { title: 'Expected failures of a conformance run', ...z.toJSONSchema(baseline, { io: 'input' }) };
}

/**
 * Parses a baseline (list of expected failures) in YAML or JSON. Throws `InvalidFile` if the text is invalid or names
 * an unknown rule. `ids`: ids of all existing rules.
 *
 * ```js
 * const text = 'format: 1\nrules:\n  grep.ref.default: { reason: is being mended, expires: 2027-01-31 }\n';
 * const baseline = readBaseline(text, new Set(allRules().map(({ id }) => id)));
 * await run(target, { only: 'grep', baseline });
 * ```
 */
export function readBaseline(text: string, ids: ReadonlySet<string>): readonly BaselineEntry[] {
  const format = (readYaml(text) as { format?: unknown } | null)?.format;
  if (typeof format === 'number' && format !== BASELINE_FORMAT) {
    throw new InvalidFile(`has the format ${format}; this suite reads format ${BASELINE_FORMAT}`);
  }
  const { rules } = readStructured(text, baseline);
  for (const id of Object.keys(rules)) {
    if (!ids.has(id)) throw new InvalidFile(`expects a failure of the unknown rule ${id}`);
  }
  return Object.entries(rules).map(([rule, { reason, expires, verdict }]) => ({
    ...{ rule, reason, expires },
    ...defined({ verdict }),
  }));
}

/**
 * Compares a report with a baseline (list of expected failures). Returns a copy of the report with the new exit code.
 * In the copy, each listed rule has the state of its expectation. `today`: UTC date in the form `2027-01-31`, to find
 * expired entries.
 *
 * ```js
 * const report = await run(target, { only: 'grep' });
 * const expected = [{ rule: 'grep.ref.default', reason: 'is being mended', expires: '2027-01-31' }];
 * const { exit_code } = applyBaseline(report, expected, '2026-11-30');
 * ```
 */
export function applyBaseline(report: Report, entries: readonly BaselineEntry[], today: string): Report {
  const byRule = new Map(entries.map((one) => [one.rule, one]));
  const rules = report.rules.map(({ baseline: _before, ...result }) => {
    const found = byRule.get(result.id);
    return found === undefined ? result : { ...result, baseline: expectationOf(result, found, today) };
  });
  const checked = new Set(rules.map(({ id }) => id));
  const { mode, interrupted, ended, setup = [], cleanup } = report;
  return {
    ...report,
    rules,
    baseline: { elsewhere: entries.filter(({ rule }) => !checked.has(rule)) },
    exit_code: exitCodeOf(countDeciding(rules), {
      ...{ strict: mode.strict, interrupted, ended, setup, cleanup },
      minChecked: minCheckedOf(mode),
    }),
  };
}

/**
 * Compares a rule's result with its baseline entry (expected failure). Returns the entry with its state, such as
 * `expected` or `stale`. `today`: UTC date in the form `2027-01-31`.
 */
export function expectationOf(result: RuleResult, { rule: _rule, ...said }: BaselineEntry, today: string): Expectation {
  const { verdict } = result;
  if (verdict === 'skip' || verdict === 'blocked' || verdict === 'error') return { state: 'unobserved', ...said };
  const isMet = said.verdict === undefined ? EXPECTABLE.some((one) => one === verdict) : said.verdict === verdict;
  // An entry may expect one specific verdict. A failure with another verdict then does not meet the expectation.
  if (!isMet) return { state: isBroken({ verdict }, false) ? 'unexpected' : 'stale', ...said };
  return { state: today > said.expires ? 'expired' : 'expected', ...said };
}

/**
 * Returns the baseline entries (expected failures) that the report was compared with. Returns undefined if it was not
 * compared with a baseline.
 */
export function entriesOf({ rules, baseline }: Report): readonly BaselineEntry[] | undefined {
  if (baseline === undefined) return undefined;
  const own = rules.flatMap(({ id, baseline: one }) => {
    if (one === undefined) return [];
    const { state: _state, ...said } = one;
    return [{ rule: id, ...said }];
  });
  return [...own, ...baseline.elsewhere].sort((one, other) => (one.rule < other.rule ? -1 : 1));
}

/**
 * Returns the text of a new baseline file. It expects the failure of every rule that made the run fail. If the report
 * was already compared with a baseline, known entries keep their reason. `reason`: reason of the new entries.
 */
export function writeBaseline(
  report: Report,
  { reason, expires, today }: { reason?: string | undefined; expires: string; today: string },
): string {
  const usual = reason ?? `failed on ${report.started_at.slice(0, 10)}`;
  const rules = report.rules.flatMap((result): [string, object][] => {
    const { id, verdict, baseline: before } = result;
    const isKnown = before !== undefined && before.state !== 'stale';
    if (!EXPECTABLE.some((one) => one === verdict) || !(isKnown || isBroken({ verdict }, report.mode.strict)))
      return [];
    const isOpen = before !== undefined && before.expires >= today;
    return [
      [
        id,
        {
          // Leave out the verdict of a flaky rule, because the next run may give the rule another verdict.
          ...(verdict === 'flaky' ? {} : { verdict }),
          reason: before?.reason ?? usual,
          expires: isOpen ? before.expires : expires,
        },
      ],
    ];
  });
  return stringify({ format: BASELINE_FORMAT, rules: Object.fromEntries(rules) }, { lineWidth: 0 });
}
