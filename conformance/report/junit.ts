import { ENTITIES } from './html/markup.js';
import { describeRule, describeRun, type Reporter, THE_RUN, tooFewChecked } from './reporter.js';
import { executed, type Report, type RuleResult } from './results.js';

/**
 * Renders a report as JUnit XML. Each section of the specification is a test suite, and each rule a test case. Example:
 *
 *     <testsuites><testsuite name="Errors" tests="2" failures="1" errors="0" skipped="0">
 *       <testcase classname="Errors" name="err.method"><failure message="…" type="fail">…</failure></testcase>
 *
 * A run that checked nothing, was interrupted or ended early gets an additional failing test case. Otherwise CI systems
 * would show it as passed.
 */
export const junit: Reporter = (report) => {
  const suites = [...describeRun(report).sections].map(([section, results]) => suiteOf(report, section, results));
  const whole = wholeRun(report);
  if (whole !== undefined) suites.push(whole);
  const sum = (count: (suite: Suite) => number) => suites.reduce((total, suite) => total + count(suite), 0);
  const totals = attributes({
    name: [report.suite.name, ...describeRun(report).coverage].join(': '),
    tests: sum(({ tests }) => tests),
    failures: sum(({ failures }) => failures),
    errors: sum(({ errors }) => errors),
    skipped: sum(({ skipped }) => skipped),
    time: seconds(report.milliseconds),
    timestamp: report.started_at,
  });
  const body = suites.map(({ text }) => text).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${totals}>\n${body}</testsuites>\n`;
};

type Suite = ReturnType<typeof suiteOf>;

type Outcome = 'failure' | 'error' | 'skipped' | undefined;

function suiteOf(report: Report, section: string, results: readonly RuleResult[]) {
  const outcomes = results.map((result) => outcomeOf(report, result));
  const count = (one: Outcome) => outcomes.filter((outcome) => outcome === one).length;
  const counts = {
    tests: results.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
  };
  const time = seconds(results.reduce((total, { milliseconds }) => total + milliseconds, 0));
  const cases = results.map((result, at) => caseOf(report, result, outcomes[at])).join('');
  const head = attributes({ name: section, ...counts, time, timestamp: report.started_at });
  return { ...counts, text: `  <testsuite${head}>\n${cases}  </testsuite>\n` };
}

function outcomeOf(report: Report, result: RuleResult): Outcome {
  const { verdict } = result;
  if (verdict === 'error') return 'error';
  if (describeRule(report, result).isBroken) return 'failure';
  // Show an expected failure as skipped, like a test that is marked as expected to fail.
  if (result.baseline?.state === 'expected') return 'skipped';
  return verdict === 'skip' || verdict === 'blocked' ? 'skipped' : undefined;
}

function caseOf(report: Report, result: RuleResult, outcome: Outcome): string {
  const { id, section, verdict, milliseconds, reason = verdict } = result;
  const { headline, facts, baseline, nearest, unproven, repeat } = describeRule(report, result);
  const lines = [headline, ...facts, ...unproven];
  const message = [reason, ...baseline].join('; ');
  let inside = '';
  if (outcome === 'skipped') inside = `      <skipped${attributes({ message })}/>\n`;
  else if (outcome !== undefined) {
    for (const { request, response } of result.transcript ?? []) lines.push('', request, '', response);
    lines.push('', ...nearest);
    if (result.curl !== undefined) lines.push(`$ ${result.curl}`);
    if (repeat !== undefined) lines.push(`$ ${repeat}`);
    inside = `      <${outcome}${attributes({ message, type: verdict })}>${escapeXml(lines.join('\n'))}</${outcome}>\n`;
  } else if (verdict !== 'pass' || result.unproven === true) {
    if (result.observed !== undefined) lines.push(JSON.stringify(result.observed));
    inside = `      <system-out>${escapeXml([verdict, ...lines].join('\n'))}</system-out>\n`;
  }
  const head = attributes({ classname: section, name: id, time: seconds(milliseconds) });
  return inside === '' ? `    <testcase${head}/>\n` : `    <testcase${head}>\n${inside}    </testcase>\n`;
}

/**
 * Returns a test suite for failures that belong to no rule. Such failures are an incomplete run, and fixtures (prepared
 * state of the target) that could not be created. Returns undefined if there are none.
 */
function wholeRun(report: Report): Suite | undefined {
  const { setup, conclusion, measure, remarks } = describeRun(report);
  const isWhole = !report.interrupted && report.ended === undefined && executed(report.counts) > 0;
  const isGreen = isWhole && report.exit_code !== 3 && tooFewChecked(report) === undefined;
  if (isGreen) return setup.length === 0 ? undefined : suiteOf(report, THE_RUN, setup);
  const reason = [conclusion, ...remarks].join(' ');
  const own: RuleResult = {
    id: 'the run is complete',
    section: THE_RUN,
    says: 'Every rule that can be checked is checked.',
    level: 'MUST',
    reach: 'any',
    read_only: true,
    verdict: 'fail',
    reason: `${reason} ${measure}`,
    milliseconds: 0,
  };
  return suiteOf(report, THE_RUN, [own, ...setup]);
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeXml(String(value)).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')}"`)
    .join('');
}

/** Matches characters that XML 1.0 (section 2.2) forbids even as character references. */
const NOT_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

function escapeXml(text: string): string {
  return text
    .replace(NOT_XML, (odd) => `\\u${odd.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/[&<>"\r]/g, (character) => ENTITIES[character] ?? '');
}
