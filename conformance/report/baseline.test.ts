import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { assertHeld, RuleBroken } from '../run/each-rule.js';
import { packageRoot } from '../run/version.js';
import {
  applyBaseline,
  type BaselineEntry,
  baselineSchema,
  entriesOf,
  readBaseline,
  writeBaseline,
} from './baseline.js';
import type { Expectation, Verdict } from './results.js';
import { reportWith, resultOf } from './test/sample-report.js';

const TODAY = '2026-06-15';
const entry = (verdict?: 'fail' | 'warn', expires = '2026-12-31'): BaselineEntry => ({
  rule: 'jwt.alg.none',
  reason: 'ticket 7',
  expires,
  ...(verdict === undefined ? {} : { verdict }),
});

/**
 * Test cases. Each has a baseline entry (expected failure), the verdict of its rule, and the resulting state of the
 * entry. The two numbers are the exit codes of the run without and with the option `strict`.
 */
const CASES: readonly (readonly [BaselineEntry, Verdict, Expectation['state'], number, number])[] = [
  [entry(), 'fail', 'expected', 0, 0],
  [entry(), 'flaky', 'expected', 0, 0],
  [entry(), 'warn', 'expected', 0, 0],
  [entry(), 'pass', 'stale', 1, 1],
  [entry(), 'observed', 'stale', 1, 1],
  [entry(), 'skip', 'unobserved', 0, 0],
  [entry(), 'blocked', 'unobserved', 3, 3],
  [entry(), 'error', 'unobserved', 4, 4],
  [entry('fail'), 'fail', 'expected', 0, 0],
  [entry('fail'), 'flaky', 'unexpected', 1, 1],
  [entry('fail'), 'warn', 'stale', 1, 1],
  [entry('warn'), 'fail', 'unexpected', 1, 1],
  [entry('warn'), 'variant', 'stale', 1, 1],
  [entry('warn'), 'pass', 'stale', 1, 1],
  [entry(undefined, TODAY), 'fail', 'expected', 0, 0],
  [entry(undefined, '2026-06-14'), 'fail', 'expired', 1, 1],
  [entry(undefined, '2026-06-14'), 'warn', 'expired', 1, 1],
  [entry(undefined, '2026-06-14'), 'pass', 'stale', 1, 1],
  [entry(undefined, '2026-06-14'), 'skip', 'unobserved', 0, 0],
];

t.test('the expected and the actual verdict decide the exit code', async (t) => {
  for (const [expected, verdict, state, code, strictCode] of CASES) {
    for (const strict of [false, true]) {
      const rules = [resultOf(verdict, 'jwt.alg.none', { reason: 'why' }), resultOf('pass', 'jwt.typ.missing')];
      const report = applyBaseline(reportWith(rules, { mode: { write: true, strict } }), [expected], TODAY);
      const name = `${expected.verdict ?? 'any'} until ${expected.expires}, is ${verdict}, strict ${strict}`;
      t.same([report.rules[0]?.baseline?.state, report.exit_code], [state, strict ? strictCode : code], name);
      t.same(entriesOf(report), [expected], 'nothing of the baseline is lost');
    }
  }
});

t.test('a run whose failures are all expected succeeds, however few rules it has', async (t) => {
  const report = applyBaseline(reportWith([resultOf('fail', 'jwt.alg.none')]), [entry()], TODAY);
  t.equal(report.exit_code, 0);
  t.same(report.counts.fail, 1, 'it is counted as what it is');
});

t.test('a baseline entry for a rule that is not in the report is listed', async (t) => {
  const report = applyBaseline(reportWith([resultOf('pass', 'jwt.typ.missing')]), [entry()], TODAY);
  t.same([report.exit_code, report.baseline?.elsewhere], [0, [entry()]]);
});

t.test('a test runner skips an expected failure, and fails if it no longer occurs', async (t) => {
  const [expected, stale] = (['fail', 'pass'] as const).map(
    (verdict) => applyBaseline(reportWith([resultOf(verdict, 'jwt.alg.none')]), [entry()], TODAY).rules[0],
  );
  const skipped: string[] = [];
  if (expected) assertHeld(expected, { skip: (why) => void skipped.push(why) });
  t.match(skipped, [/expected to be broken until 2026-12-31 \(ticket 7\)/]);
  t.throws(() => stale && assertHeld(stale), RuleBroken);
});

t.test('a new baseline lists what made the run fail and keeps existing entries', async (t) => {
  const verdicts: readonly Verdict[] = ['pass', 'fail', 'flaky', 'warn', 'variant', 'error', 'skip', 'blocked'];
  const ids = new Set(verdicts.map((verdict) => `rule.${verdict}`));
  const write = (strict: boolean, known: readonly BaselineEntry[] = []) => {
    const report = reportWith(
      verdicts.map((verdict) => resultOf(verdict)),
      { mode: { write: true, strict } },
    );
    const text = writeBaseline(applyBaseline(report, known, TODAY), {
      reason: 'new',
      expires: '2027-01-01',
      today: TODAY,
    });
    return readBaseline(text, ids).map(({ rule, verdict, reason, expires }) => [rule, verdict, reason, expires]);
  };
  const fresh = ['new', '2027-01-01'];
  t.same(write(false), [
    ['rule.fail', 'fail', ...fresh],
    ['rule.flaky', undefined, ...fresh],
  ]);
  t.same(
    write(true).map(([rule]) => rule),
    ['rule.fail', 'rule.flaky', 'rule.warn', 'rule.variant'],
  );
  const known = [
    { ...entry(), rule: 'rule.fail' },
    { ...entry(undefined, '2026-01-01'), rule: 'rule.flaky' },
    { ...entry(), rule: 'rule.pass' },
  ];
  t.same(write(false, known), [
    ['rule.fail', 'fail', 'ticket 7', '2026-12-31'],
    ['rule.flaky', undefined, 'ticket 7', '2027-01-01'],
  ]);
});

t.test('the published schema equals the one that validates files', async (t) => {
  const published = readFileSync(join(packageRoot(), 'fixtures', 'conformance-baseline.schema.json'), 'utf8');
  t.equal(
    published,
    `${JSON.stringify(baselineSchema(), null, 2)}\n`,
    'npx conformance schema baseline > fixtures/conformance-baseline.schema.json',
  );
});
