import { stringify } from 'yaml';
import { z } from 'zod';
import { defined } from '../target/json.js';
import { readStructured } from '../target/structured-file.js';
import { InvalidFile } from '../target/text-file.js';
import { readYaml } from '../target/yaml.js';
import { isBroken } from './reporter.js';
import { countDeciding, type Expectation, exitCodeOf, minCheckedOf, type Report, type RuleResult } from './results.js';

/** Version of the baseline format. Other versions are refused. */
export const BASELINE_FORMAT = 1;

/** Verdicts that a baseline can expect. An internal error of the suite cannot be expected. */
export const EXPECTABLE = ['fail', 'flaky', 'warn', 'variant'] as const;

/** Rule that is known to be broken at present. */
export interface BaselineEntry extends Pick<Expectation, 'reason' | 'expires' | 'verdict'> {
  readonly rule: string;
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Returns true if the text is an existing calendar date such as `2027-01-31`. */
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

/** Published JSON Schema of baselines. */
export function baselineSchema(): object {
  return { title: 'Expected failures of a conformance run', ...z.toJSONSchema(baseline, { io: 'input' }) };
}

/**
 * Reads a baseline. `ids`: the ids of all existing rules. Throws `InvalidFile`.
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
 * Compares a report with a baseline. Returns the report with the expectation of each rule and the resulting exit code.
 * `today`: UTC date such as `2027-01-31`.
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

/** Compares the result of a rule with its baseline entry. */
export function expectationOf(result: RuleResult, { rule: _rule, ...said }: BaselineEntry, today: string): Expectation {
  const { verdict } = result;
  if (verdict === 'skip' || verdict === 'blocked' || verdict === 'error') return { state: 'unobserved', ...said };
  const isMet = said.verdict === undefined ? EXPECTABLE.some((one) => one === verdict) : said.verdict === verdict;
  // A failure of another kind is not the expected one.
  if (!isMet) return { state: isBroken({ verdict }, false) ? 'unexpected' : 'stale', ...said };
  return { state: today > said.expires ? 'expired' : 'expected', ...said };
}

/** Returns the baseline entries that a report was compared with; undefined if there was no baseline. */
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
 * Writes a baseline with every rule that made the run fail. Earlier entries keep their reason. `reason`: reason of new
 * entries.
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
          // A flaky rule can also fail, so its verdict is left open.
          ...(verdict === 'flaky' ? {} : { verdict }),
          reason: before?.reason ?? usual,
          expires: isOpen ? before.expires : expires,
        },
      ],
    ];
  });
  return stringify({ format: BASELINE_FORMAT, rules: Object.fromEntries(rules) }, { lineWidth: 0 });
}
